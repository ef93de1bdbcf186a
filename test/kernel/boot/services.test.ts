import { expect, test } from 'vitest';
import { superviseService } from '../../../kernel/boot/lifecycle.ts';
import { waitFor } from '../../helpers/wait-for.ts';
import { bootTree, codesOf, extension, problemsOf, states } from './boot-extensions.ts';

/** Fails as often as the list says and then runs until it is told to end. */
function failing(...errors: readonly unknown[]) {
  let runs = 0;
  const runBackground = (signal: AbortSignal): Promise<void> => {
    if (runs < errors.length) return Promise.reject(errors[runs++]);
    runs++;
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  };
  return { runBackground, runs: () => runs };
}

test('a service that dies is started again, each time after twice the wait', async () => {
  const abort = new AbortController();
  const deaths: unknown[] = [];
  const service = failing(new Error('one'), 'two', new Error('three'));
  const ended = superviseService(service, abort.signal, (error, waitMs) => deaths.push([String(error), waitMs]), 2);
  await waitFor('the fourth run', () => service.runs() === 4);
  abort.abort();
  await ended;
  expect(deaths).toEqual([
    ['Error: one', 2],
    ['two', 4],
    ['Error: three', 8],
  ]);
});

test('a service that throws at once has died too', async () => {
  const abort = new AbortController();
  const deaths: unknown[] = [];
  const runBackground = (): Promise<void> => {
    throw new Error('at once');
  };
  const ended = superviseService(
    { runBackground },
    abort.signal,
    (error) => void (deaths.push(error) === 2 && abort.abort()),
    1,
  );
  await ended;
  expect(deaths).toHaveLength(2);
});

test('the wait before a restart ends with the signal', async () => {
  const abort = new AbortController();
  const service = failing(new Error('one'));
  await superviseService(service, abort.signal, () => setImmediate(() => abort.abort()), 3_600_000);
  expect(service.runs()).toBe(1);
});

test('a service that resolves has finished and is left alone', async () => {
  const deaths: unknown[] = [];
  await superviseService(
    { runBackground: async () => {} },
    new AbortController().signal,
    (error) => deaths.push(error),
    1,
  );
  expect(deaths).toEqual([]);
});

test('a service that fails because it was told to end has not died', async () => {
  const abort = new AbortController();
  const deaths: unknown[] = [];
  const runBackground = (signal: AbortSignal): Promise<void> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const ended = superviseService({ runBackground }, abort.signal, (error) => deaths.push(error), 1);
  abort.abort();
  await ended;
  expect(deaths).toEqual([]);
});

test('a kernel reports each death with the extension and its reason, and the extension goes on running', async () => {
  const members = `runs = 0;
    async runBackground(signal) {
      this.context.log.info('run');
      this.runs++;
      if (this.runs === 2) await new Promise((resolve) => (this.cut = resolve));
      if (this.runs < 3) throw new Error('lost the line');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      this.context.log.info('ended');
    }
    getCommands() { return [{ name: 'cut', description: '', execute: async () => { this.cut(); return { kind: 'new' }; } }]; }
    async stop() { this.context.log.info('stop'); }`;
  const kernel = await bootTree(extension('worker', '', members));
  await waitFor('the second run', () => kernel.logged.length === 2);
  await kernel.runCommand('/cut', {});
  await waitFor('the third run', () => kernel.logged.length === 3);
  expect(states(kernel)).toEqual(['worker RUNNING']);
  expect(problemsOf(kernel)).toMatchObject([
    {
      code: 'SERVICE_DIED',
      severity: 'error',
      details: { id: 'worker' },
      message: expect.stringContaining('in 0.02 s'),
    },
    { code: 'SERVICE_DIED', message: expect.stringContaining('(lost the line); it starts again in 0.04 s') },
  ]);
  // What dies before the start is over stands in the list of problems, which is still to be shown.
  expect(kernel.undelivered().at(-1)).toContain('0.04 s');
  await kernel.shutdown();
  expect(kernel.logged.slice(3)).toEqual(['worker ended', 'worker stop']);
});

test('services run only once every extension has started', async () => {
  const members = `async start() { this.context.log.info('start'); } async runBackground() { this.context.log.info('run'); }`;
  const kernel = await bootTree({
    ...extension('a', '', members),
    ...extension('b', '', members),
    ...extension('bad', '', `${members} async start() { throw new Error('no'); }`),
  });
  expect(kernel.logged).toEqual(['a start', 'b start', 'a run', 'b run']);
  expect(codesOf(kernel)).toEqual(['EXTENSION_START_FAILED']);
});
