import { join } from 'node:path';
import { boot } from 'skill-registry/kernel';
import { expect, onTestFinished, test } from 'vitest';
import { scriptedModel } from '../helpers/scripted-model.ts';
import { tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { agentExtension, bootTree, codesOf, extension, reasonOf, states } from './boot/boot-extensions.ts';

test('an extension that is off in its manifest starts only where it is asked for', async () => {
  const tree = extension('extra', 'enabled: false');
  expect(states(await bootTree(tree))).toEqual(['extra DISABLED']);
  expect(states(await bootTree(tree, { enable: ['extra'] }))).toEqual(['extra RUNNING']);
});

test('an id to enable that no extension has is a problem with the nearest one, also after a reload', async () => {
  const kernel = await bootTree(extension('extra', 'enabled: false'), { enable: ['extra', 'exrta'] });
  const said = () => kernel.problems().filter(({ code }) => code === 'EXTENSION_UNKNOWN');
  const expected = { severity: 'error', message: expect.stringMatching(/^"exrta" .* Did you mean "extra"\?/) };
  expect(said()).toMatchObject([expected]);
  await kernel.reload();
  expect(said()).toMatchObject([expected]);
});

test.each<[options: unknown, message: string]>([
  [undefined, 'boot: options must be an object, got undefined.'],
  [{}, 'boot: options.root must be a text, got undefined.'],
  [{ root: '.', rootDir: '.' }, 'boot: options has no "rootDir". It is called root.'],
  [
    { root: '.', enabled: ['skill_mcp'] },
    'Did you mean "enable"? It may have: root, config, enable, trust, environment, onLog, signal.',
  ],
  [{ root: '.', enable: 'skill_mcp' }, 'boot: options.enable must be a list, got "skill_mcp".'],
])('boot refuses %j, and says what it takes', async (options, message) => {
  await expect(boot(options as never)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining(message),
  });
});

test('a program that boots the kernel keeps its own terminal', async () => {
  const kernel = await boot({ root: tempFolder() });
  onTestFinished(() => kernel.shutdown());
  const byId = new Map(kernel.extensions().map(({ id, state }) => [id, state]));
  expect(byId.get('cli_channel')).toBe('DISABLED');
  expect(byId.get('skill_registry')).toBe('RUNNING');
  expect(kernel.problems()).toEqual([]);
});

const agentCode = (descriptor: string): string => `
  getAgentDescriptor() { ${descriptor} }
  async invoke() { return { text: 'hi', stopped: 'done', usage: { inputTokens: 0, outputTokens: 0 }, conversation: [] }; }`;

test.each([
  ['throws', `throw new Error('no idea');`, 'no idea'],
  [
    'has another id',
    `return { id: 'other', name: 'O', description: '', integrationMode: 'tool', usesTools: [] };`,
    '"other"',
  ],
  ['is a promise', 'return Promise.resolve({ id: "odd" });', 'its getAgentDescriptor is async'],
  ['is nothing', 'return undefined;', '"undefined"'],
])('an agent whose descriptor %s is in ERROR, and the others can be listed', async (_what, body, reason) => {
  const kernel = await bootTree({ ...extension('odd', '', agentCode(body)), ...agentExtension('fine') });
  expect(states(kernel)).toEqual(['fine RUNNING', 'odd ERROR']);
  expect(codesOf(kernel)).toEqual(['AGENT_NOT_READY']);
  expect(reasonOf(kernel, 'odd')).toContain(reason);
  expect(kernel.agents().map(({ id }) => id)).toEqual(['fine']);
});

test('an agent named like a tool is told, and the tool keeps its name', async () => {
  const model = await scriptedModel([{ text: 'ok' }]);
  const add = `getTools() { return [defineTool({ name: 'add', description: 'Adds.', input: z.object({}), execute: async () => ({ success: true }) })]; }`;
  const kernel = await bootTree(
    { ...extension('sums', '', add), ...agentExtension('add'), ...agentExtension('boss', 'uses_tools: ["*"]') },
    { environment: model.environment },
  );
  expect(codesOf(kernel)).toEqual(['TOOL_NAME_TAKEN']);
  await kernel.invokeAgent('boss', 'go');
  expect(model.requests[0]?.tools?.map((tool) => tool.function.description)).toEqual(['Adds.']);
});

test('a key that was added to .env is there after a reload', async () => {
  const read = `get secret() { return this.context.getSecret('MY_KEY') ?? 'none'; }
    getCommands() { return [{ name: 'secret', description: '', execute: async () => ({ kind: 'print', text: this.secret }) }]; }`;
  const kernel = await bootTree({ ...extension('reader', '', read), '.env': 'OTHER=1\n' });
  expect(await kernel.runCommand('/secret', {})).toEqual({ kind: 'print', text: 'none' });
  writeTree(kernel.root, { '.env': 'MY_KEY=abc\n' });
  await kernel.reload();
  expect(await kernel.runCommand('/secret', {})).toEqual({ kind: 'print', text: 'abc' });
});

test('an agent cannot be called while extensions start, also not in a reload, which goes on', async () => {
  const call = `async start() {
    await this.context.kernel.invokeAgent('fine', 'now').catch((error) => { globalThis.refusedInStart = error.code; });
  }`;
  const kernel = await bootTree({ ...agentExtension('fine'), ...extension('hasty', '', call) });
  const refused = (): unknown => (globalThis as { refusedInStart?: unknown }).refusedInStart;
  expect(refused()).toBe('AGENT_UNAVAILABLE');
  Object.assign(globalThis, { refusedInStart: undefined });
  await kernel.reload();
  expect(refused()).toBe('AGENT_UNAVAILABLE');
  expect(states(kernel)).toEqual(['fine RUNNING', 'hasty RUNNING']);
});

test('/extensions says how each stands and why one is not running', async () => {
  const sick = `healthCheck() { return false; }`;
  const kernel = await bootTree({
    ...extension('well'),
    ...extension('sick', '', sick),
    ...extension('off', 'enabled: false'),
  });
  const { text } = (await kernel.runCommand('/extensions', {})) as { text: string };
  expect(text).toMatch(/^ {2}well {2}RUNNING$/m);
  expect(text).toContain('  sick  RUNNING (unhealthy)');
  expect(text).toContain('  off  DISABLED  enabled: false in its manifest');
  expect(kernel.extensions().find(({ id }) => id === 'well')?.dir).toBe(join(kernel.root, 'extensions/well'));
});
