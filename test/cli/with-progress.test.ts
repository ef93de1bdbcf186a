import { expect, it } from 'vitest';
import { withProgress } from '../../cli/with-progress.ts';
import { waitFor } from '../helpers/wait-for.ts';

/** Words on standard error, and work that ends when it is told to. */
function slowWork(progress: boolean) {
  const said: string[] = [];
  let finish = (): void => {};
  const work = new Promise<string>((resolve) => {
    finish = () => resolve('done');
  });
  const shown = withProgress('Reading skills', { progress, err: (text) => said.push(text) }, work);
  return { said, shown, finish };
}

it('says what takes longer than a second where somebody sees it, and nothing where nobody does', async () => {
  const [seen, unseen] = [slowWork(true), slowWork(false)];
  await waitFor('the words', () => seen.said.length > 0);
  expect(seen.said).toEqual(['Reading skills ...\n']);
  for (const { finish, shown } of [seen, unseen]) {
    finish();
    expect(await shown).toBe('done');
  }
  expect(unseen.said).toEqual([]);
});
