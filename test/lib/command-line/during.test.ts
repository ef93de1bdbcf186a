import { expect, it, onTestFinished, vi } from 'vitest';
import { type Streams, terminalOf } from '../../../lib/command-line/index.ts';

/** Words on standard error, and work that ends when it is told to. */
function slowWork(progress: boolean) {
  const said: string[] = [];
  let finish = (): void => {};
  const work = new Promise<string>((resolve) => {
    finish = () => resolve('done');
  });
  const streams = { progress, err: (text: string) => void said.push(text) } as Streams;
  const shown = terminalOf(streams, {}, []).during('Reading skills', work);
  return { said, shown, finish };
}

it('says what takes longer than a second where somebody sees it, and nothing where nobody does', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const [seen, unseen] = [slowWork(true), slowWork(false)];
  vi.advanceTimersByTime(999);
  expect(seen.said).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(seen.said).toEqual(['Reading skills ...\n']);
  for (const { finish, shown } of [seen, unseen]) {
    finish();
    expect(await shown).toBe('done');
  }
  expect(unseen.said).toEqual([]);
});
