import { expect, it, onTestFinished, vi } from 'vitest';
import { takeBreak } from '../../../lib/breaks/index.ts';
import { type Streams, terminalOf } from '../../../lib/command-line/index.ts';

/** What a person sees on standard error, and work that ends when it is told to. */
function slowWork(progress: boolean, options: { json?: boolean } = {}) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const said: string[] = [];
  let finish = (): void => {};
  const work = new Promise<string>((resolve) => {
    finish = () => resolve('done');
  });
  const streams = { progress, columns: 60, err: (text: string) => void said.push(text) } as Streams;
  const terminal = terminalOf(streams, options, []);
  return { said, terminal, finish, shown: terminal.during('Reading skills', work, 'list works meanwhile') };
}

const CLEAR = '\r\x1b[K';

it('says each second how far something is that takes longer, in one line that is gone at its end', async () => {
  const { said, terminal, finish, shown } = slowWork(true);
  vi.advanceTimersByTime(999);
  expect(said).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(said.splice(0)).toEqual(['Reading skills ... (list works meanwhile)']);
  await takeBreak(3_200, 10_000);
  await takeBreak();
  vi.advanceTimersByTime(1_000);
  expect(said.splice(0)).toEqual([CLEAR, 'Reading skills: 3,200 of 10,000 (list works meanwhile)']);
  terminal.say('a warning');
  expect(said.splice(0)).toEqual([CLEAR, 'a warning\n']);
  await takeBreak(1, 2, 'Looking at \x1b[2J what came from somewhere far away, which is long');
  vi.advanceTimersByTime(1_000);
  expect(said.splice(0)).toEqual(['Looking at \\x1b[2J what came from somewhere far away, which']);
  finish();
  expect(await shown).toBe('done');
  expect(said).toEqual([CLEAR]);
  vi.advanceTimersByTime(5_000);
  await takeBreak(2, 2);
  expect(said).toEqual([CLEAR]);
});

it.each([
  ['into a pipe', false, {}],
  ['beside JSON', true, { json: true }],
])('says nothing %s', async (_, progress, options) => {
  const { said, finish, shown } = slowWork(progress, options);
  await takeBreak(3_200, 10_000);
  vi.advanceTimersByTime(60_000);
  finish();
  expect(await shown).toBe('done');
  expect(said).toEqual([]);
});
