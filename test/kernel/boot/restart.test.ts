import { describe, expect, test } from 'vitest';
import { scriptedModel } from '../../helpers/scripted-model.ts';
import { type Tree, writeTree } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';
import { agentExtension, type BootedKernel, bootTree, codesOf, extension, states } from './boot-extensions.ts';

/** /restart asks for a reload; `running` is what it saw of the others a moment later, still in the call. */
const RESTARTER = `
  async restart() {
    this.context.requestRestart();
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    this.context.log.info('still ' + this.context.kernel.extensions().filter(({ state }) => state === 'RUNNING').length);
  }
  getCommands() { return [{ name: 'restart', description: '', execute: async () => { this.context.requestRestart(); return { kind: 'new' }; } }]; }
  getTools() {
    const execute = async () => { await this.restart(); return { success: true }; };
    return [defineTool({ name: 'request_restart', description: 'Restarts.', input: z.object({}), execute })];
  }`;
const CHANNEL = `async sendMessage(text) { this.context.log.info(text); } async sendToUser() {}`;
const ADDED: Tree = extension('added');

const isBack = (kernel: BootedKernel) =>
  waitFor('the reload', () => kernel.undelivered().some((text) => text.includes('Extensions reloaded')));

describe('requestRestart', () => {
  test('outside a turn reloads at once, with the extensions that are there then', async () => {
    const kernel = await bootTree(extension('restarter', '', RESTARTER));
    writeTree(kernel.root, ADDED);
    expect(await kernel.runCommand('/restart', {})).toEqual({ kind: 'new' });
    await isBack(kernel);
    expect(states(kernel)).toEqual(['added RUNNING', 'restarter RUNNING']);
  });

  test('in a turn reloads when the turn has ended', async () => {
    const model = await scriptedModel((_, index) => {
      if (index === 0) return { call: 'request_restart', args: {} };
      seen.push(...states(kernel));
      return { text: 'Done.' };
    });
    const seen: string[] = [];
    const kernel = await bootTree(
      { ...extension('restarter', '', RESTARTER), ...agentExtension('talker', 'uses_tools: ["*"]') },
      { environment: model.environment },
    );
    writeTree(kernel.root, ADDED);
    expect(await kernel.invokeAgent('talker', 'restart')).toMatchObject({ text: 'Done.', stopped: 'done' });
    await isBack(kernel);
    expect(seen).toEqual(['restarter RUNNING', 'talker RUNNING']);
    expect(kernel.logged).toEqual(['restarter still 2']);
    expect(states(kernel)).toEqual(['added RUNNING', 'restarter RUNNING', 'talker RUNNING']);
  });

  test('waits for every turn that runs, also the one that called the agent', async () => {
    const model = await scriptedModel([
      { call: 'helper', args: { task: 'restart it' } },
      { call: 'request_restart', args: {} },
      { text: 'Asked.' },
      { text: 'Done.' },
    ]);
    const kernel = await bootTree(
      {
        ...extension('restarter', '', RESTARTER),
        ...agentExtension('helper', 'uses_tools: [restarter]'),
        ...agentExtension('talker', 'integration_mode: handoff\nuses_tools: [helper]'),
      },
      { environment: model.environment },
    );
    expect(await kernel.invokeAgent('talker', 'restart')).toMatchObject({ text: 'Done.', stopped: 'done' });
    expect(kernel.undelivered()).toEqual([]);
    await isBack(kernel);
  });

  test('asked for several times reloads once', async () => {
    const kernel = await bootTree(extension('restarter', '', RESTARTER));
    for (let times = 0; times < 3; times++) await kernel.runCommand('/restart', {});
    await isBack(kernel);
    await kernel.shutdown();
    expect(kernel.undelivered()).toHaveLength(1);
  });

  test('does nothing once the kernel has stopped', async () => {
    const kernel = await bootTree(extension('restarter', '', `async destroy() { this.context.requestRestart(); }`));
    await kernel.shutdown();
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(states(kernel)).toEqual(['restarter STOPPED']);
  });
});

describe('a reload', () => {
  test('lets a new turn wait and then begin with what is there', async () => {
    const model = await scriptedModel([{ text: 'New.' }]);
    const kernel = await bootTree(extension('one'), { environment: model.environment });
    writeTree(kernel.root, agentExtension('talker'));
    const reloaded = kernel.reload();
    expect(await kernel.invokeAgent('talker', 'hi')).toMatchObject({ text: 'New.' });
    await reloaded;
  });

  test('asked for while one runs is that one', async () => {
    const kernel = await bootTree(extension('one', '', `async start() { this.context.log.info('start'); }`));
    await Promise.all([kernel.reload(), kernel.reload()]);
    expect(kernel.logged).toEqual(['one start', 'one start']);
  });

  test('forgets problems that are mended and lists those that are new', async () => {
    const kernel = await bootTree({ ...extension('a', 'depends_on: [gone]'), ...extension('b') });
    expect(codesOf(kernel)).toEqual(['EXTENSION_DEPENDENCY_MISSING']);
    writeTree(kernel.root, { ...extension('a'), ...extension('b', 'depend_on: []') });
    await kernel.reload();
    expect(codesOf(kernel)).toEqual(['MANIFEST_FIELD_UNKNOWN']);
    expect(kernel.undelivered().join('\n')).toContain('Unknown field "depend_on"');
    expect(kernel.undelivered().join('\n')).toContain('extensions/b/manifest.yaml:5: ');
  });
});

describe('a turn that runs is cut off by', () => {
  test.each<[what: string, end: (kernel: BootedKernel) => Promise<void>]>([
    ['a reload', (kernel) => kernel.reload()],
    ['a shutdown', (kernel) => kernel.shutdown()],
  ])('%s', async (_, end) => {
    const model = await scriptedModel([{ hangAfter: 'Let me see' }]);
    const kernel = await bootTree(agentExtension('talker'), { environment: model.environment });
    let heard = '';
    const turn = kernel.invokeAgent('talker', 'hi', { onText: (delta) => (heard += delta) });
    await waitFor('the first words', () => heard);
    await end(kernel);
    expect(await turn).toMatchObject({ text: 'Let me see', stopped: 'cancelled' });
  });
});

describe('notifyUser', () => {
  const speaking = extension('speaker', '', `async start() { this.context.notifyUser('hello'); }`);

  test('is kept until there is a channel', async () => {
    const kernel = await bootTree(speaking);
    expect(kernel.undelivered()).toEqual(['hello']);
    writeTree(kernel.root, { ...extension('zchannel', '', CHANNEL), ...extension('speaker') });
    await kernel.reload();
    expect(kernel.undelivered()).toEqual([]);
    expect(kernel.logged[0]).toBe('zchannel hello');
    expect(kernel.logged[1]).toContain('zchannel Extensions reloaded: 2 running.');
  });

  test('reaches every channel, also one that starts after the extension that speaks', async () => {
    const kernel = await bootTree({
      ...speaking,
      ...extension('zeta', '', CHANNEL),
      ...extension('early', '', CHANNEL),
    });
    expect(kernel.logged).toEqual(['early hello', 'zeta hello']);
    expect(kernel.undelivered()).toEqual([]);
  });

  test('reaches the other channels when one fails', async () => {
    const kernel = await bootTree({
      ...speaking,
      ...extension('alpha', '', `${CHANNEL} sendMessage() { throw new Error('no line'); }`),
      ...extension('zeta', '', CHANNEL),
    });
    await waitFor('the failure', () => kernel.logged.length === 2);
    expect([...kernel.logged].sort()).toEqual(['alpha no line', 'zeta hello']);
  });
});
