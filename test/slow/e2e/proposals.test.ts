import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry } from 'skill-registry';
import { boot, type Kernel } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { type ScriptedAnswer, scriptedModel, toolResults, type WireRequest } from '../../helpers/scripted-model.ts';
import { LONGER, TEA } from '../../helpers/tea.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const CHANNEL = `export class Channel {
  async initialize(context) { this.dir = context.extensionDir; }
  async start() {} async stop() {} async destroy() {} healthCheck() { return true; }
  async sendToUser() {}
  async sendMessage(message) { (await import('node:fs')).appendFileSync(this.dir + '/heard.txt', message + '\\n'); }
}
`;
const TREE = {
  'skills/tea/SKILL.md': TEA,
  'extensions/channel/manifest.yaml':
    'id: channel\nname: Channel\nversion: 1.0.0\ndescription: Writes down what it hears.\nentrypoint: main:Channel\n',
  'extensions/channel/main.mjs': CHANNEL,
  'extensions/channel/main.js': CHANNEL,
  'extensions/channel/package.json': '{ "type": "module" }',
};

interface Scene {
  readonly root: string;
  readonly kernel: Kernel;
  readonly requests: readonly WireRequest[];
  tea(): string;
  print(line: string): Promise<string>;
}

async function scene(script: readonly ScriptedAnswer[], config: Readonly<Record<string, object>> = {}): Promise<Scene> {
  const root = tempFolder(TREE);
  const model = await scriptedModel(script);
  const environment = { ...model.environment, MODEL_NAME: 'scripted-1' };
  const skill_registry = { sources: [{ path: 'skills' }] };
  const kernel = await boot({ root, environment, config: { skill_registry, ...config } });
  onTestFinished(() => kernel.shutdown());
  return {
    root,
    kernel,
    requests: model.requests,
    tea: () => readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8'),
    async print(line) {
      const result = await kernel.runCommand(line, { userId: 'ada' });
      return result.kind === 'print' ? result.text : result.kind;
    },
  };
}

const PROPOSE: ScriptedAnswer = {
  call: 'propose_skill_update',
  args: { skill_id: 'tea', content: LONGER, justification: 'It was weak.' },
};

it('lets an agent propose, tells the person in the channel, and changes the skill when the person approves', async () => {
  const { root, kernel, tea, print } = await scene([PROPOSE, { text: 'Proposed.' }]);
  await kernel.invokeAgent('orchestrator_agent', 'The tea was weak.');
  expect(tea()).toBe(TEA);
  const heard = join(root, 'extensions/channel/heard.txt');
  await waitFor('the notification', () => existsSync(heard));
  const id = /show (\S+)/.exec(readFileSync(heard, 'utf8'))?.[1] ?? '';
  expect(readFileSync(heard, 'utf8')).toContain('agent:orchestrator_agent proposes a change of tea/SKILL.md');
  expect(await print('/proposals')).toContain(id);
  expect(await print(`/proposals show ${id}`)).toMatch(
    /by agent:orchestrator_agent with scripted-1[\s\S]*\+Steep for three/,
  );
  expect(await print(`/proposals approve ${id} True.`)).toContain('revision 2');
  expect(tea()).toBe(LONGER);
  expect(await print('/proposals')).toBe('No proposals wait.');
});

it('takes a change as one text and what takes its place, and tells the model what to do where it does not fit', async () => {
  const change = (old_string: string): ScriptedAnswer => ({
    call: 'propose_skill_update',
    args: { skill_id: 'tea', old_string, new_string: 'Steep for three minutes.', justification: 'It was weak.' },
  });
  const script = [change('Steep for 2 minutes.'), change('Steep for two minutes.'), { text: 'Proposed.' }];
  const { kernel, requests, tea, print } = await scene(script);
  await kernel.invokeAgent('orchestrator_agent', 'The tea was weak.');
  const tool = requests[0]?.tools?.find(({ function: { name } }) => name === 'propose_skill_update');
  expect(JSON.stringify(tool?.function.parameters)).toMatch(/"old_string".*"new_string"/);
  expect(toolResults(requests[2])).toMatchObject([
    { success: false, error: { message: expect.stringContaining('is line 10: "Steep for two minutes."') } },
    { success: true, state: 'open' },
  ]);
  expect(tea()).toBe(TEA);
  const id = /^(tea-\S+)/m.exec(await print('/proposals'))?.[1] ?? '';
  expect(await print(`/proposals show ${id}`)).toContain('+Steep for three minutes.');
  await print(`/proposals approve ${id}`);
  expect(tea()).toBe(LONGER);
});

it('approves in the channel what was shown there, and nothing that it has become since', async () => {
  const { root, kernel, tea, print } = await scene([PROPOSE, { text: 'Proposed.' }]);
  await kernel.invokeAgent('orchestrator_agent', 'The tea was weak.');
  const id = /^(tea-\S+)/m.exec(await print('/proposals'))?.[1] ?? '';
  await print(`/proposals show ${id}`);
  const other = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
  onTestFinished(() => other.close());
  await other.proposals.edit(id, { content: TEA.replace('two', 'nine'), by: 'person:bob' });
  for (const decide of [`reject ${id} No.`, `approve ${id}`]) {
    expect(await print(`/proposals ${decide}`)).toMatch(/\+Steep for \w+ minutes[\s\S]*Nothing is decided yet\./);
    await other.proposals.edit(id, { content: TEA.replace('two', decide.slice(0, 3)), by: 'person:bob' });
  }
  expect(tea()).toBe(TEA);
  await other.proposals.edit(id, { content: TEA.replace('two', 'nine'), by: 'person:bob' });
  expect(await print(`/proposals approve ${id}`)).toContain('+Steep for nine');
  await print(`/proposals approve ${id}`);
  expect(tea()).toBe(TEA.replace('two', 'nine'));
});

it('turns a file tool’s write below a skill into a proposal', async () => {
  const write = (path: string, content: string): ScriptedAnswer => ({ call: 'write_file', args: { path, content } });
  const coffee = '---\nname: coffee\ndescription: Brews coffee.\n---\n\nGrind.\n';
  const script = [
    write('skills/tea/SKILL.md', LONGER),
    write('skills/tea/references/new.md', 'New.\n'),
    write('skills/coffee/SKILL.md', coffee),
    { text: 'Done.' },
  ];
  const { root, kernel, tea, print } = await scene(script);
  await kernel.invokeAgent('orchestrator_agent', 'Write.');
  expect(tea()).toBe(TEA);
  expect(existsSync(join(root, 'skills/coffee'))).toBe(false);
  const ids = [...(await print('/proposals')).matchAll(/^((?:tea|coffee)-\S+)/gm)].map(([id]) => id);
  expect(ids).toHaveLength(3);
  for (const id of ids) {
    expect(await print(`/proposals approve ${id}`)).toContain('Nothing is decided yet.');
    await print(`/proposals approve ${id}`);
  }
  expect(tea()).toBe(LONGER);
  expect(readFileSync(join(root, 'skills/tea/references/new.md'), 'utf8')).toBe('New.\n');
  expect(readFileSync(join(root, 'skills/coffee/SKILL.md'), 'utf8')).toBe(coffee);
});

it('decides in the channel by a part of an id only after it has shown what that is', async () => {
  const { kernel, tea, print } = await scene([PROPOSE, { text: 'Proposed.' }]);
  await kernel.invokeAgent('orchestrator_agent', 'The tea was weak.');
  const id = /^(tea-\S+)/m.exec(await print('/proposals'))?.[1] ?? '';
  await expect(print('/proposals approve t')).rejects.toMatchObject({ code: 'PROPOSAL_NOT_FOUND' });
  expect(await print(`/proposals approve ${id.slice(0, 6)}`)).toMatch(
    /\+Steep for three[\s\S]*Nothing is decided yet\. Type the same again to approve it/,
  );
  expect(tea()).toBe(TEA);
  await print(`/proposals approve ${id.slice(0, 6)}`);
  expect(tea()).toBe(LONGER);
});

it('tells its author what was decided, and why, and takes the same content no second time', async () => {
  const list = { call: 'list_proposals', args: {} };
  const script = [PROPOSE, { text: 'Proposed.' }, list, PROPOSE, { text: 'Understood.' }];
  const { kernel, requests, print } = await scene(script);
  await kernel.invokeAgent('orchestrator_agent', 'The tea was weak.');
  const id = /^(tea-\S+)/m.exec(await print('/proposals'))?.[1] ?? '';
  await print(`/proposals show ${id}`);
  await print(`/proposals reject ${id} Three is too long.`);
  await kernel.invokeAgent('orchestrator_agent', 'What became of it?');
  const [told, again] = toolResults(requests[4]);
  expect(told).toEqual({
    success: true,
    proposals: [
      { proposal_id: id, skill_id: 'tea', state: 'rejected', decided_by: 'person:ada', reason: 'Three is too long.' },
    ],
  });
  const message = expect.stringContaining('Three is too long.');
  expect(again).toMatchObject({ success: false, error: { code: 'PROPOSAL_REJECTED', message } });
});

it('gives the review tools to the reviewer alone, which recommends and does not decide', async () => {
  const script = (_request: WireRequest, index: number): ScriptedAnswer =>
    [PROPOSE, { text: 'Proposed.' }, { call: 'list_waiting_proposals', args: {} }][index] ?? { text: 'Seen.' };
  const root = tempFolder(TREE);
  const model = await scriptedModel(script);
  const skill_registry = { sources: [{ path: 'skills' }] };
  const kernel = await boot({ root, environment: model.environment, config: { skill_registry } });
  onTestFinished(() => kernel.shutdown());
  const toolsOf = (request: WireRequest | undefined): readonly string[] =>
    request?.tools?.map((tool) => tool.function.name) ?? [];
  await kernel.invokeAgent('orchestrator_agent', 'The tea was weak.');
  expect(toolsOf(model.requests[0])).toContain('skill_reviewer');
  expect(toolsOf(model.requests[0])).not.toContain('recommend_proposal');
  await kernel.invokeAgent('skill_reviewer', 'Review what waits.');
  expect(toolsOf(model.requests[2])).toEqual(
    expect.arrayContaining(['list_waiting_proposals', 'read_proposal', 'recommend_proposal', 'read_skill']),
  );
  expect(toolsOf(model.requests[2])).not.toContain('decide_proposal');
  const [found] = model.requests[3]?.messages.filter(({ role }) => role === 'tool') ?? [];
  const [{ proposal_id }] = JSON.parse(found?.content ?? '{}').proposals;
  const recommend = kernel.tools().find(({ tool }) => tool.name === 'recommend_proposal')?.tool;
  const call = { turn: { agentId: 'orchestrator_agent' }, signal: new AbortController().signal };
  const args = { proposal_id, verdict: 'approve', reason: 'Mine.' } as never;
  await expect(recommend?.execute(args, call)).rejects.toMatchObject({ code: 'REVIEW_FORBIDDEN' });
});

it('lets the reviewer decide where its owner has said so', async () => {
  let id = '';
  const { root, kernel, tea } = await (async () => {
    const at = tempFolder(TREE);
    const model = await scriptedModel((_request, index) => {
      if (index === 0) return PROPOSE;
      if (index === 2) return { call: 'read_proposal', args: { proposal_id: id } };
      const [, version] =
        /"version":\s*"(sha256:[0-9a-f]{64})"/.exec(JSON.stringify(_request.messages).replaceAll('\\"', '"')) ?? [];
      if (index === 3)
        return { call: 'decide_proposal', args: { proposal_id: id, version, verdict: 'approve', reason: 'True.' } };
      return { text: 'Done.' };
    });
    const config = { skill_registry: { sources: [{ path: 'skills' }] }, skill_reviewer: { decide: true } };
    const booted = await boot({ root: at, environment: model.environment, config });
    onTestFinished(() => booted.shutdown());
    return { root: at, kernel: booted, tea: () => readFileSync(join(at, 'skills/tea/SKILL.md'), 'utf8') };
  })();
  await kernel.invokeAgent('orchestrator_agent', 'The tea was weak.');
  const heard = join(root, 'extensions/channel/heard.txt');
  await waitFor('the notification', () => existsSync(heard));
  id = /show (\S+)/.exec(readFileSync(heard, 'utf8'))?.[1] ?? '';
  await kernel.invokeAgent('skill_reviewer', 'Review what waits.');
  expect(tea()).toBe(LONGER);
  // What it proposes itself, somebody else decides.
  const call = { turn: { agentId: 'skill_reviewer' }, signal: new AbortController().signal };
  const toolOf = (name: string) => kernel.tools().find(({ tool }) => tool.name === name)?.tool;
  const own = { skill_id: 'tea', content: TEA, justification: 'Mine.' } as never;
  const { proposal_id } = ((await toolOf('propose_skill_update')?.execute(own, call)) ?? {}) as {
    proposal_id?: string;
  };
  const args = { proposal_id, version: 'x', verdict: 'approve', reason: 'Mine.' } as never;
  await expect(toolOf('decide_proposal')?.execute(args, call)).rejects.toMatchObject({ code: 'REVIEW_FORBIDDEN' });
  expect(tea()).toBe(LONGER);
});
