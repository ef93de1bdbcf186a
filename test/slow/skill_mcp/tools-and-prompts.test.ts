import { expect, it } from 'vitest';
import { countTokens } from '../../../lib/text/index.ts';
import { callTool, httpClient, serveRegistry } from '../../helpers/mcp.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

const QA: Tree = {
  'skills/qa/SKILL.md': skillMd({ name: 'qa', description: 'Tests things.', requires: '[tea]' }, 'THE BODY'),
  'skills/qa/references/cases.md': 'THE CASES',
  'skills/qa/scripts/lint.sh': 'echo lint',
  'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brews tea.' }),
};

it('offers the three tools, with their schemas, as read only, and those of a dialect', async () => {
  const { serving } = await serveRegistry(QA);
  const { tools } = await (await httpClient(serving.url)).listTools();
  expect(tools.map(({ name }) => name)).toEqual(['list_skills', 'read_skill', 'read_skill_resource']);
  expect(tools[1]?.inputSchema).toMatchObject({ type: 'object', required: ['skill_id'] });
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
});

it('answers with the result keys of the registry’s tools, in text and structured', async () => {
  const { serving } = await serveRegistry(QA);
  const client = await httpClient(serving.url, 'legacy');
  const listed = await client.callTool({ name: 'list_skills', arguments: { query: 'tea' } });
  expect(Object.keys(listed.structuredContent as object)).toEqual(['success', 'skills', 'total', 'truncated']);
  expect(JSON.parse((listed.content as { text: string }[])[0]?.text ?? '')).toEqual(listed.structuredContent);
  const { result: read } = await callTool(client, 'read_skill', { skill_id: 'qa' });
  // The session of this client is a thread.
  const ofBody = 'success skill_id name content approx_tokens message requires hint allowed_tools resources';
  expect(Object.keys(read)).toEqual(`${ofBody} digest source thread_tokens`.split(' '));
  const { result: file } = await callTool(client, 'read_skill_resource', { skill_id: 'qa', path: 'scripts/lint.sh' });
  const ofFile = 'success skill_id path content encoding size approx_tokens thread_tokens';
  expect(Object.keys(file)).toEqual(ofFile.split(' '));
});

it('takes from an agent a change of a skill as one text and what takes its place', async () => {
  const { serving, registry } = await serveRegistry(QA, { mcp: { turn: { agentId: 'brewer' } } });
  const client = await httpClient(serving.url);
  const change = { skill_id: 'qa', old_string: 'THE BODY', new_string: 'Another body', justification: 'Wrong.' };
  const { result } = await callTool(client, 'propose_skill_update', change);
  expect(result).toMatchObject({ success: true, proposal_id: expect.stringMatching(/^qa-/), state: 'open' });
  const waits = { author: 'agent:brewer', diff: expect.stringContaining('+Another body') };
  expect(await registry.proposals.list()).toMatchObject([waits]);
  const missing = await callTool(client, 'propose_skill_update', { ...change, old_string: 'BODY!' });
  expect(missing).toMatchObject({ isError: true, result: { error: { code: 'INVALID_ARGUMENT' } } });
});

it('offers an agent what became of its own proposals, and nobody else', async () => {
  const { serving, registry } = await serveRegistry(QA, { mcp: { turn: { agentId: 'brewer' } } });
  const input = { skillId: 'qa', justification: 'Wrong.' };
  const content = skillMd({ name: 'qa', description: 'Tests things.' }, 'NEW');
  const { proposalId } = await registry.proposals.propose({ ...input, content, author: 'agent:brewer' });
  await registry.proposals.propose({ ...input, content: `${content}More.\n`, author: 'agent:other' });
  await registry.proposals.reject(proposalId, { by: 'person:ada', reason: 'No.' });
  const client = await httpClient(serving.url);
  const { tools } = await client.listTools();
  expect(tools.find(({ name }) => name === 'list_proposals')?.annotations).toMatchObject({ readOnlyHint: true });
  const { result } = await callTool(client, 'list_proposals', {});
  const own = { proposal_id: proposalId, skill_id: 'qa', state: 'rejected', decided_by: 'person:ada', reason: 'No.' };
  expect(result).toEqual({ success: true, proposals: [own] });
  const { serving: anonymous } = await serveRegistry(QA, {
    mcp: { tools: ['read_skill', 'propose_skill_update', 'list_proposals'] },
  });
  const offered = await (await httpClient(anonymous.url)).listTools();
  expect(offered.tools.map(({ name }) => name)).toEqual(['read_skill']);
});

it('gives load_skill exactly the result keys it was designed with, failures in error', async () => {
  const { serving } = await serveRegistry(QA, { config: { dialect: ['bernstein'] } });
  const client = await httpClient(serving.url);
  const nothing = { reference_content: null, script_content: null, error: null };
  const found = { available_references: ['cases.md'], available_scripts: ['lint.sh'] };
  const load = async (args: Record<string, unknown>) => (await callTool(client, 'load_skill', args)).result;
  expect(await load({ name: 'qa' })).toEqual({ name: 'qa', body: 'THE BODY', ...found, ...nothing });
  expect(await load({ name: 'qa', reference: 'cases.md', script: 'lint.sh' })).toEqual({
    name: 'qa',
    body: null,
    ...found,
    reference_content: 'THE CASES',
    script_content: 'echo lint',
    error: null,
  });
  const lists = { available_references: [], available_scripts: [], reference_content: null, script_content: null };
  expect(await callTool(client, 'load_skill', { name: 'nope' })).toMatchObject({
    isError: true,
    result: { name: 'nope', body: '', ...lists, error: expect.stringContaining('SKILL_NOT_FOUND: No skill "nope"') },
  });
  expect((await load({ name: 'nope' })).success).toBeUndefined();
});

it('answers a failing call with its code, and an unknown tool by naming those there are', async () => {
  const { serving } = await serveRegistry(QA);
  const client = await httpClient(serving.url);
  expect(await callTool(client, 'read_skill', { skill_id: 'qaa' })).toMatchObject({
    isError: true,
    result: { success: false, error: { code: 'SKILL_NOT_FOUND', message: expect.stringContaining('qa') } },
  });
  const wrong = await callTool(client, 'read_skill', { skill: 1 });
  expect(wrong).toMatchObject({ isError: true, result: { error: { code: 'INVALID_ARGUMENT' } } });
  const traversal = await callTool(client, 'read_skill_resource', { skill_id: 'qa', path: '../tea/SKILL.md' });
  expect(traversal).toMatchObject({ isError: true, result: { error: { code: 'PATH_TRAVERSAL' } } });
  await expect(callTool(client, 'nope', {})).rejects.toThrow('Tools: list_skills, read_skill');
});

it('says that no skill fits, and what to do, to a client that searches', async () => {
  const { serving } = await serveRegistry(QA);
  const client = await httpClient(serving.url);
  const { result } = await callTool(client, 'list_skills', { query: 'Welche Rechnungen sind noch offen?' });
  expect(result).toEqual({
    success: true,
    skills: [],
    total: 0,
    truncated: false,
    message: expect.stringMatching(/^No skill fits\. Search by meaning is off, /),
  });
});

it('shows no tools to a client that knows the Skills extension', async () => {
  const { serving } = await serveRegistry(QA);
  const capabilities = { extensions: { 'io.modelcontextprotocol/skills': {} } };
  expect((await (await httpClient(serving.url, 'modern', { capabilities })).listTools()).tools).toEqual([]);
});

it('gives the catalog in the instructions, within the budget however many skills there are', async () => {
  const many = Array.from({ length: 300 }, (_, n) => [
    `skills/skill-${n}/SKILL.md`,
    skillMd({ name: `skill-${n}`, description: `Does the thing number ${n} with care and in good time.` }),
  ]);
  const { serving, registry } = await serveRegistry(Object.fromEntries(many), {
    config: { catalog: { budget_tokens: 400 } },
  });
  for (const era of ['modern', 'legacy'] as const) {
    const client = await httpClient(serving.url, era);
    expect(client.getInstructions()).toBe(await registry.context(''));
  }
  expect(await countTokens((await registry.context('')) ?? '')).toBeLessThanOrEqual(400);
});

it('offers each skill a person may invoke as a prompt with its own arguments', async () => {
  const tree = {
    ...QA,
    'skills/fix/SKILL.md': skillMd(
      { name: 'fix', description: 'Fixes.', arguments: '[issue, branch]', 'argument-hint': '"[issue] [branch]"' },
      'Fix $issue on $1 ($branch), all of: $ARGUMENTS. See $'.concat('{SKILL_DIR}/x.md. Not $HOME, \\$0.'),
    ),
    'skills/quiet/SKILL.md': skillMd({ name: 'quiet', description: 'Q.', 'user-invocable': 'false' }),
  };
  const { serving } = await serveRegistry(tree);
  const client = await httpClient(serving.url);
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual(['fix', 'qa', 'tea']);
  const argument = { description: '[issue] [branch]', required: false };
  expect(prompts[0]?.arguments).toEqual([
    { name: 'issue', ...argument },
    { name: 'branch', ...argument },
  ]);
  expect(prompts[1]?.arguments).toEqual([{ name: 'arguments', required: false }]);

  const textOf = async (name: string, args: Record<string, string>): Promise<unknown> => {
    const { messages } = await client.getPrompt({ name, arguments: args });
    return messages.map(({ role, content }) => `${role}: ${'text' in content ? content.text : ''}`).join();
  };
  expect(await textOf('fix', { branch: '$issue', issue: '42' })).toBe(
    'user: Apply Skill "fix" with arguments: "42 $issue"\n\nInstructions:\n' +
      'Fix 42 on $issue ($issue), all of: 42 $issue. See skill://fix/x.md. Not $HOME, $0.',
  );
  expect(await textOf('tea', { arguments: 'now' })).toContain('Apply Skill "tea" with arguments: "now"');
  await expect(textOf('tea', { topic: 'x' })).rejects.toThrow('has no argument topic; it has arguments');
  await expect(textOf('quiet', {})).rejects.toMatchObject({ code: -32602 });
});

it('holds every door to the scope it was opened with', async () => {
  const { serving } = await serveRegistry(QA, {
    config: { dialect: ['bernstein'] },
    mcp: { turn: { agentId: 'a', boundSkills: ['tea'] } },
  });
  const client = await httpClient(serving.url);
  expect(client.getInstructions()).not.toContain('qa');
  expect((await client.listResources()).resources.map(({ name }) => name)).toEqual(['tea']);
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['tea']);
  expect((await callTool(client, 'list_skills', {})).result).toMatchObject({ total: 1 });
  expect((await callTool(client, 'load_skill', { name: 'qa' })).result.error).toContain('SKILL_NOT_FOUND');
  await expect(client.readResource({ uri: 'skill://qa/SKILL.md' })).rejects.toMatchObject({ code: -32602 });
  await expect(client.getPrompt({ name: 'qa' })).rejects.toMatchObject({ code: -32602 });
});
