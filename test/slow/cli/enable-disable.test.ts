import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { boot } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { agent, skill } from '../../helpers/boot-root.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { scriptedModel } from '../../helpers/scripted-model.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

const CONFIG = 'data/skill_registry/config.yaml';
const HELPER = agent('helper', 'instructions: Help., uses_tools: [skill_registry], model: m');

interface Row {
  readonly qualified_id: string;
  readonly seen_by: readonly (string | null)[];
  readonly not_seen_by: readonly { readonly agent: string | null; readonly because: string }[];
}

/** What the model of an agent is sent in a new process-like kernel, when it reads tea. */
async function sentTo(root: string, agentId: string): Promise<string> {
  const model = await scriptedModel((_, index) =>
    index === 0 ? { call: 'read_skill', args: { skill_id: 'tea' } } : { text: 'Done.' },
  );
  const kernel = await boot({ root, environment: model.environment });
  onTestFinished(() => kernel.shutdown());
  await kernel.invokeAgent(agentId, 'Make tea.');
  return JSON.stringify(model.requests.map(({ messages }) => messages));
}

async function rowsOf(root: string): Promise<ReadonlyMap<string, Row>> {
  const { stdout } = await runCommand(['list', '--all', '--json', '--root', root]);
  const { skills } = JSON.parse(stdout) as { skills: readonly Row[] };
  return new Map(skills.map((row) => [row.qualified_id, row]));
}

it('keeps a disabled skill from every agent after the next start, and gives it back', async () => {
  const root = tempFolder({ ...skill('tea'), ...skill('coffee'), ...HELPER });
  const before = readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8');
  const disabled = await runCommand(['disable', 'tea', '--root', root]);
  expect(disabled).toMatchObject({ status: 0, stderr: expect.stringContaining('tea is disabled for every agent') });
  const sent = await sentTo(root, 'helper');
  expect(sent).toContain('Does coffee.');
  expect(sent).toContain('SKILL_NOT_FOUND');
  expect(sent).not.toMatch(/Does tea\.|Body of tea\./);
  expect((await runCommand(['enable', 'tea', '--root', root])).status).toBe(0);
  expect(await sentTo(root, 'helper')).toContain('Body of tea.');
  expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toBe(before);
});

it('leaves a disabled skill out of the instructions of the agent that is bound to it, and of nobody else', async () => {
  const bound = (id: string) => agent(id, 'instructions: Help., uses_skills: [tea], model: m');
  const root = tempFolder({ ...skill('tea'), ...bound('ada'), ...bound('ben') });
  expect((await runCommand(['disable', 'tea', '--agent', 'ada', '--root', root])).status).toBe(0);
  expect(await sentTo(root, 'ada')).not.toContain('Body of tea.');
  expect(await sentTo(root, 'ben')).toContain('Body of tea.');
  const { seen_by, not_seen_by } = (await rowsOf(root)).get('skills:tea') as Row;
  expect(seen_by).toContain('ben');
  expect(not_seen_by).toContainEqual({ agent: 'ada', because: 'disabled in the config' });
});

it.each(['skill-authoring', 'skill-registry:skill-authoring'])(
  'keeps a skill of the package from the agent that is bound to it: %s',
  async (id) => {
    const root = tempFolder({ [CONFIG]: 'sources: [{ shipped: true }]\n' });
    expect((await runCommand(['disable', id, '--agent', 'builder_agent', '--root', root])).status).toBe(0);
    const read = { call: 'read_skill', args: { skill_id: 'skill-registry:skill-authoring' } };
    const model = await scriptedModel((_, index) => (index === 0 ? read : { text: 'Done.' }));
    const kernel = await boot({ root, environment: model.environment });
    onTestFinished(() => kernel.shutdown());
    await kernel.invokeAgent('builder_agent', 'Write a skill.');
    const sent = JSON.stringify(model.requests.map(({ messages }) => messages));
    expect(sent).toContain('# Extension development');
    expect(sent).not.toContain('# Skill authoring');
    expect(sent).toContain('SKILL_NOT_FOUND');
  },
);

it('sends a disabled skill to nobody by its slash command, and says how to enable it', async () => {
  const root = tempFolder({ ...skill('tea'), [CONFIG]: 'disabled: [tea]\n' });
  const model = await scriptedModel(() => ({ text: 'Done.' }));
  const kernel = await boot({ root, environment: model.environment });
  onTestFinished(() => kernel.shutdown());
  const answer = await kernel.runCommand('/skills:tea now', { agentId: 'orchestrator_agent', threadId: 't' });
  expect(answer).toMatchObject({ kind: 'print', text: expect.stringContaining('skill-registry disable tea --off') });
});

it('keeps comments, order and every other key of the config', async () => {
  const config = '# Ours.\ninject: off # no catalog\n\ndisabled:\n  # too loud\n  - coffee\nwatch: { mode: poll }\n';
  const root = tempFolder({ ...skill('tea'), ...skill('coffee'), ...HELPER, [CONFIG]: config });
  expect((await runCommand(['disable', 'tea', '--agent', 'helper', '--root', root])).status).toBe(0);
  expect(readFileSync(join(root, CONFIG), 'utf8')).toBe(
    config.replace('  - coffee\n', '  - coffee\n  - { skill: tea, agent: helper }\n'),
  );
  expect((await runCommand(['enable', 'tea', '--root', root])).status).toBe(0);
  expect(readFileSync(join(root, CONFIG), 'utf8')).toBe(config);
});

it('makes the config that is missing, readable as other files, and changes nothing the second time', async () => {
  const root = tempFolder(skill('tea'));
  const first = await runCommand(['disable', 'tea', '--root', root, '--json']);
  expect(JSON.parse(first.stdout)).toEqual({
    skill_id: 'tea',
    agent: null,
    disabled: true,
    changed: true,
    file: join(root, CONFIG),
  });
  const { mtimeMs } = statSync(join(root, CONFIG));
  const again = await runCommand(['disable', 'tea', '--root', root]);
  expect(again).toMatchObject({ status: 0, stderr: 'tea is disabled for every agent already\n' });
  expect(statSync(join(root, CONFIG)).mtimeMs).toBe(mtimeMs);
  expect((await runCommand(['enable', 'tea', '--root', root])).status).toBe(0);
  expect((await runCommand(['enable', 'tea', '--root', root])).stderr).toBe('tea is enabled for every agent already\n');
});

it.each([
  ['an unknown skill', ['disable', 'te'], 1, /SKILL_NOT_FOUND: No skill "te"\. Nearest: tea/],
  [
    'an unknown agent',
    ['disable', 'tea', '--agent', 'hepler'],
    1,
    /No agent "hepler"\. Did you mean "helper"\? Agents: .*helper/,
  ],
  [
    'to enable for an unknown agent',
    ['enable', 'tea', '--agent', 'hepler'],
    1,
    /No agent "hepler"\. Did you mean "helper"\?/,
  ],
  ['one agent of a skill that nobody is given', ['enable', 'coffee', '--agent', 'helper'], 2, /disable coffee --off/],
])('refuses %s', async (_, args, status, message) => {
  const root = tempFolder({ ...skill('tea'), ...skill('coffee'), ...HELPER, [CONFIG]: 'disabled: [coffee]\n' });
  expect(await runCommand([...args, '--root', root])).toMatchObject({ status, stderr: expect.stringMatching(message) });
  expect(readFileSync(join(root, CONFIG), 'utf8')).toBe('disabled: [coffee]\n');
});

it('enables for an agent that is gone what the config still keeps from it, once', async () => {
  const root = tempFolder({ ...skill('tea'), ...HELPER, [CONFIG]: 'disabled: [{ skill: tea, agent: gone }]\n' });
  const enable = () => runCommand(['enable', 'tea', '--agent', 'gone', '--root', root]);
  expect(await enable()).toMatchObject({ status: 0, stderr: expect.stringContaining('tea is enabled for gone: ') });
  expect(await enable()).toMatchObject({ status: 1, stderr: expect.stringContaining('AGENT_NOT_FOUND') });
});

it('changes no config that it cannot read', async () => {
  const root = tempFolder({ ...skill('tea'), [CONFIG]: 'disabled: [tea\n' });
  expect(await runCommand(['disable', 'tea', '--root', root])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('CONFIG_INVALID'),
  });
  expect(readFileSync(join(root, CONFIG), 'utf8')).toBe('disabled: [tea\n');
});

it('takes what is disabled in a root that nobody has approved', async () => {
  const root = tempFolder({ ...skill('tea'), [CONFIG]: 'disabled: [tea]\ninject: bodies\n' });
  const { stderr } = await runCommand(['list', '--root', root], { trust: false });
  expect(stderr).toContain('Agents do not see tea: disabled in the config');
});

it('says of each skill which agents see it, and why the others do not', async () => {
  const root = tempFolder({
    ...skill('tea'),
    ...skill('quiet', { 'disable-model-invocation': 'true' }),
    ...skill('gated', { metadata: '{ openclaw: { requires: { bins: [no-such-program] } } }' }),
    ...skill('draft', { metadata: '{ draft: "true" }' }, 'FILL'),
    ...skill('off'),
    'more/tea/SKILL.md': skillMd({ name: 'tea', description: 'Another tea.' }, 'Other body.'),
    ...agent('ada', 'instructions: Help., uses_skills: [tea], model: m'),
    [CONFIG]: 'sources: [{ path: skills }, { path: more }]\ndisabled: [off]\n',
  });
  const rows = await rowsOf(root);
  const why = (id: string, of: string | null): string | undefined =>
    rows.get(id)?.not_seen_by.find(({ agent: one }) => one === of)?.because;
  expect(rows.get('skills:tea')?.seen_by).toEqual(expect.arrayContaining([null, 'ada', 'orchestrator_agent']));
  expect(why('more:tea', null)).toMatch(/another skill has its id/);
  expect(why('skills:quiet', null)).toMatch(/hides itself/);
  expect(why('skills:gated', null)).toMatch(/no-such-program/);
  expect(why('skills:draft', null)).toMatch(/draft/);
  expect(why('skills:off', null)).toBe('disabled in the config');
  expect(why('skills:gated', 'ada')).toMatch(/bound/);
  const { stdout } = await runCommand(['list', '--all', '--root', root]);
  expect(stdout.match(/skills:off/g)).toHaveLength(1);
  expect(stdout).toMatch(/skills:off\s+no agent\s.*disabled in the config/);
});

it('has one row for a file that two sources have', async () => {
  const root = tempFolder({
    '.agents/skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Tea.' }),
    '.claude/skills/tea': { link: '../../.agents/skills/tea' },
    [CONFIG]: 'sources: [{ preset: claude }, { preset: agents }]\n',
  });
  expect([...(await rowsOf(root)).keys()].filter((id) => id.endsWith('tea'))).toEqual(['claude:tea']);
});

it('records who did it and why, and refuses the name of an agent', async () => {
  const root = tempFolder(skill('tea'));
  const disable = ['disable', 'tea', '--root', root, '--reason', 'Too hot.'];
  expect(await runCommand([...disable, '--by', 'agent:x'])).toMatchObject({ status: 2 });
  expect(await runCommand([...disable, '--by', 'ada'])).toMatchObject({ status: 0 });
  const { decisions } = JSON.parse((await runCommand(['trust', 'list', '--json', '--root', root])).stdout);
  const made = { kind: 'switch', action: 'revoke', path: root, skill: 'tea', agent: null };
  expect(decisions).toContainEqual(expect.objectContaining({ ...made, by: 'person:ada', reason: 'Too hot.' }));
});
