import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { bootTree, codesOf, extension, problemsOf, states } from './boot-extensions.ts';

const LOGGING = `async stop() { this.context.log.info('stop'); } async destroy() { this.context.log.info('destroy'); }`;

test('extensions are stopped and destroyed in reverse order of start, one after the other', async () => {
  const kernel = await bootTree({
    ...extension('a', 'depends_on: [c]', LOGGING),
    ...extension('b', 'depends_on: [a]', LOGGING),
    ...extension('c', '', LOGGING),
  });
  await kernel.shutdown();
  expect(kernel.logged).toEqual(['b', 'a', 'c'].flatMap((id) => [`${id} stop`, `${id} destroy`]));
  expect(states(kernel)).toEqual(['c STOPPED', 'a STOPPED', 'b STOPPED']);
});

test('a dependency can still be used while its dependent stops', async () => {
  const kernel = await bootTree({
    ...extension('store', '', `async stop() { this.closed = true; }`),
    ...extension(
      'user',
      'depends_on: [store]',
      `async stop() { this.context.log.info(String(this.context.getExtension('store').closed ?? 'open')); }`,
    ),
  });
  await kernel.shutdown();
  expect(kernel.logged).toEqual(['user open']);
});

describe('shutdown completes, and reports', () => {
  test.each<[what: string, members: string, code: string, message: string]>([
    [
      'a stop that never settles',
      'stop() { return new Promise(() => {}); }',
      'EXTENSION_STOP_TIMEOUT',
      'did not stop in time',
    ],
    [
      'a destroy that never settles',
      'destroy() { return new Promise(() => {}); }',
      'EXTENSION_STOP_TIMEOUT',
      'did not stop in time',
    ],
    [
      'a service that ignores its signal',
      'runBackground() { return new Promise(() => {}); }',
      'EXTENSION_STOP_TIMEOUT',
      'did not stop in time',
    ],
    [
      'a stop that rejects',
      `async stop() { throw new Error('stuck'); }`,
      'EXTENSION_STOP_FAILED',
      'failed while stopping: stuck',
    ],
    [
      'a stop that throws',
      `stop() { throw new Error('stuck'); }`,
      'EXTENSION_STOP_FAILED',
      'failed while stopping: stuck',
    ],
    [
      'a destroy that rejects',
      `async destroy() { throw new Error('stuck'); }`,
      'EXTENSION_STOP_FAILED',
      'failed while stopping: stuck',
    ],
  ])('%s', async (_, members, code, message) => {
    const kernel = await bootTree({
      ...extension('first', '', LOGGING),
      ...extension('hung', '', members),
      ...extension('last', '', LOGGING),
    });
    await kernel.shutdown();
    await kernel.stopped;
    expect(kernel.logged).toEqual(['last stop', 'last destroy', 'first stop', 'first destroy']);
    expect(states(kernel)).toEqual(['first STOPPED', 'hung STOPPED', 'last STOPPED']);
    expect(problemsOf(kernel)).toMatchObject([{ code, severity: 'error', details: { id: 'hung' } }]);
    expect(problemsOf(kernel)[0]?.message).toContain(message);
    expect(kernel.undelivered()).toMatchObject([expect.stringContaining(message)]);
  });

  test('every extension that hangs, within the budget of all', async () => {
    const hang = 'stop() { return new Promise(() => {}); }';
    const kernel = await bootTree({
      ...extension('a', '', hang),
      ...extension('b', '', hang),
      ...extension('c', '', hang),
      ...extension('d', '', LOGGING),
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    let isOver = false;
    void kernel.shutdown().then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(200);
    const inTime = isOver;
    await vi.advanceTimersByTimeAsync(1000);
    expect(inTime).toBe(true);
    expect(codesOf(kernel)).toEqual(Array(3).fill('EXTENSION_STOP_TIMEOUT'));
    expect(kernel.logged).toEqual(['d stop', 'd destroy']);
  });
});

test('an extension is destroyed also when its stop fails or its service hangs', async () => {
  const kernel = await bootTree({
    ...extension('bad', '', `${LOGGING} async stop() { throw new Error('stuck'); }`),
    ...extension('deaf', '', `${LOGGING} runBackground() { return new Promise(() => {}); }`),
  });
  await kernel.shutdown();
  expect(kernel.logged).toEqual(['deaf stop', 'deaf destroy', 'bad destroy']);
});

test('a second shutdown waits for the first and does nothing', async () => {
  const kernel = await bootTree(extension('one', '', LOGGING));
  await Promise.all([kernel.shutdown(), kernel.shutdown()]);
  expect(kernel.logged).toEqual(['one stop', 'one destroy']);
});

test('what went wrong while stopping for a reload is told after it', async () => {
  const kernel = await bootTree(extension('bad', '', `async stop() { throw new Error('stuck'); }`));
  await kernel.reload();
  expect(kernel.undelivered().join('\n')).toContain('failed while stopping: stuck');
  expect(states(kernel)).toEqual(['bad RUNNING']);
});

describe('an extension may ask for the end', () => {
  test.each<[what: string, members: string]>([
    ['while it initializes', 'async initialize(context) { this.context = context; context.kernel.requestShutdown(); }'],
    ['while it starts', 'async start() { this.context.kernel.requestShutdown(); }'],
    ['from its service', 'async runBackground() { this.context.kernel.requestShutdown(); }'],
    [
      'from an event',
      `async start() { this.context.events.subscribe('end', () => this.context.kernel.requestShutdown()); }
      async runBackground() { this.context.events.emit('end'); }`,
    ],
  ])('%s', async (_, members) => {
    const kernel = await bootTree({
      ...extension('before', '', LOGGING),
      ...extension('ender', '', members),
      ...extension('later', '', LOGGING),
    });
    await kernel.stopped;
    expect(states(kernel)).toEqual(['before STOPPED', 'ender STOPPED', 'later STOPPED']);
    // Asked for while it initializes, the end comes before the next one has begun.
    const begun = members.startsWith('async initialize') ? [] : ['later stop', 'later destroy'];
    expect(kernel.logged).toEqual([...begun, 'before stop', 'before destroy']);
    expect(kernel.problems().filter(({ details }) => details?.id === 'ender')).toEqual([]);
    await expect(kernel.invokeAgent('any', 'hello')).rejects.toMatchObject({ code: 'KERNEL_STOPPED' });
  });
});
