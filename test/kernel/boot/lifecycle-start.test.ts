import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { waitFor } from '../../helpers/wait-for.ts';
import { bootTree, codesOf, extension, problemsOf, reasonOf, states } from './boot-extensions.ts';

const LOGGING = `async start() { this.context.log.info('start'); } async stop() { this.context.log.info('stop'); }
  async destroy() { this.context.log.info('destroy'); }`;

describe('an extension that fails is in ERROR, its dependents are skipped and the rest runs:', () => {
  test.each<[what: string, members: string, code: string, reason: string]>([
    [
      'initialize rejects',
      `async initialize() { throw new Error('no disk'); }`,
      'EXTENSION_INITIALIZE_FAILED',
      'failed to initialize: no disk',
    ],
    [
      'initialize throws a coded error',
      `initialize() { throw new CodedError('NO_DISK', 'The disk is gone.'); }`,
      'EXTENSION_INITIALIZE_FAILED',
      'failed to initialize: NO_DISK: The disk is gone.',
    ],
    [
      'start rejects',
      `async start() { throw new Error('port taken'); }`,
      'EXTENSION_START_FAILED',
      'failed to start: port taken',
    ],
    ['start throws', `start() { throw 'words'; }`, 'EXTENSION_START_FAILED', 'failed to start: words'],
  ])('%s', async (_, members, code, reason) => {
    const kernel = await bootTree({
      ...extension('bad', '', members),
      ...extension('behind', 'depends_on: [bad]', LOGGING),
      ...extension('far', 'depends_on: [behind]'),
      ...extension('free', '', LOGGING),
    });
    expect(states(kernel)).toEqual(['bad ERROR', 'behind SKIPPED', 'far SKIPPED', 'free RUNNING']);
    expect(reasonOf(kernel, 'bad')).toBe(reason);
    expect(reasonOf(kernel, 'behind')).toBe('it depends on "bad", which is in state ERROR');
    expect(reasonOf(kernel, 'far')).toBe('it depends on "behind", which is in state SKIPPED');
    expect(kernel.logged).not.toContain('behind start');
    expect(kernel.logged).toContain('free start');
    expect(codesOf(kernel)).toEqual([code, 'EXTENSION_SKIPPED', 'EXTENSION_SKIPPED']);
    expect(problemsOf(kernel)[0]).toMatchObject({
      severity: 'error',
      file: join(kernel.root, 'extensions/bad/manifest.yaml'),
      message: expect.stringContaining(`"bad" ${reason}`),
      details: { id: 'bad' },
    });
  });

  test('initialize and start that never settle', async () => {
    // The time is up when they have been asked, however long the others take on a busy machine.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const asked: string[] = [];
    const never = (step: string): string =>
      `${step}(context = this.context) { this.context = context; context.log.info(''); return new Promise(() => {}); }`;
    const booting = bootTree(
      {
        ...extension('deaf', '', never('initialize')),
        ...extension('mute', '', never('start')),
        ...extension('waiting', 'depends_on: [mute]'),
        ...extension('free', '', LOGGING),
      },
      { budgets: { start: 400 }, onLog: ({ extensionId }) => asked.push(extensionId) },
    );
    for (const id of ['deaf', 'mute']) {
      await waitFor(id, () => asked.includes(id));
      vi.advanceTimersByTime(400);
    }
    const kernel = await booting;
    vi.useRealTimers();
    expect([...states(kernel)].sort()).toEqual(['deaf ERROR', 'free RUNNING', 'mute ERROR', 'waiting SKIPPED']);
    expect(reasonOf(kernel, 'deaf')).toBe('failed to initialize: did not settle within 400 ms');
    expect(reasonOf(kernel, 'mute')).toBe('failed to start: did not settle within 400 ms');
  });
});

test('an extension whose methods are not asynchronous runs', async () => {
  const members = `initialize(context) { this.context = context; } start() { this.context.log.info('start'); } stop() {} destroy() {}`;
  const kernel = await bootTree(extension('plain', '', members));
  expect(states(kernel)).toEqual(['plain RUNNING']);
  await kernel.shutdown();
  expect(codesOf(kernel)).toEqual([]);
});

describe('what was initialized is stopped and destroyed when', () => {
  test.each<[what: string, members: string, logged: readonly string[]]>([
    ['initialize has failed', `async initialize(context) { this.context = context; throw new Error('no'); }`, []],
    ['start has failed', `async start() { this.context.log.info('start'); throw new Error('no'); }`, ['bad start']],
    [
      'start has failed, and stop fails too',
      `async start() { throw new Error('no'); } async stop() { this.context.log.info('stop'); throw new Error('neither'); }`,
      [],
    ],
  ])('%s', async (_, members, logged) => {
    const kernel = await bootTree(extension('bad', '', `${LOGGING} ${members}`));
    expect(kernel.logged).toEqual([...logged, 'bad stop', 'bad destroy']);
    await kernel.shutdown();
    expect(kernel.logged).toHaveLength(logged.length + 2);
  });

  test('a dependency fails to start', async () => {
    const kernel = await bootTree({
      ...extension('bad', '', `async start() { throw new Error('no'); }`),
      ...extension('behind', 'depends_on: [bad]', LOGGING),
    });
    expect(kernel.logged).toEqual(['behind stop', 'behind destroy']);
  });

  test('a stop that fails there is a warning', async () => {
    const members = `async start() { throw new Error('no'); } async stop() { throw new Error('neither'); }`;
    const kernel = await bootTree(extension('bad', '', members));
    expect(problemsOf(kernel)).toMatchObject([
      { code: 'EXTENSION_START_FAILED' },
      { code: 'EXTENSION_STOP_FAILED', severity: 'warning', message: expect.stringContaining('neither') },
    ]);
  });
});

test('a disabled extension is neither imported nor started', async () => {
  const kernel = await bootTree({
    ...extension('off', 'enabled: false', LOGGING),
    'extensions/off/main.js': `throw new Error('imported');`,
  });
  expect(states(kernel)).toEqual(['off DISABLED']);
  expect(reasonOf(kernel, 'off')).toBe('enabled: false in its manifest');
  expect(codesOf(kernel)).toEqual([]);
});

test.each<[what: string, members: string, healthy: boolean]>([
  ['says so', 'healthCheck() { return true; }', true],
  ['says it is not', 'healthCheck() { return false; }', false],
  ['throws', `healthCheck() { throw new Error('ill'); }`, false],
])('an extension is healthy as its healthCheck tells: %s', async (_, members, healthy) => {
  const kernel = await bootTree(extension('one', '', members));
  expect(kernel.extensions()).toContainEqual(expect.objectContaining({ id: 'one', state: 'RUNNING', healthy }));
});

describe('a provider whose answer cannot be used is reported, and the rest runs:', () => {
  const good = `getCommands() { return [{ name: 'hello', description: '', execute: async () => ({ kind: 'new' }) }]; }`;
  test.each<[what: string, members: string]>([
    ['it throws', `getTools() { throw new Error('no'); } getCommands() { throw new Error('no'); }`],
    ['it is no list', 'getTools() { return undefined; } async getCommands() { return []; }'],
    ['it is a promise that rejects', 'async getTools() { throw 1; } async getCommands() { throw 1; }'],
    ['its entries have no name', 'getTools() { return [{}]; } getCommands() { return [null]; }'],
  ])('%s', async (_, members) => {
    const kernel = await bootTree({ ...extension('bad', '', members), ...extension('good', '', good) });
    expect(states(kernel)).toEqual(['bad RUNNING', 'good RUNNING']);
    expect([...codesOf(kernel)].sort()).toEqual(['COMMAND_PROVIDER_FAILED', 'TOOL_PROVIDER_FAILED']);
    expect(await kernel.runCommand('/hello', {})).toEqual({ kind: 'new' });
  });
});
