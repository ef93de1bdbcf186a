import { expect, it } from 'vitest';
import { reviewPage, textOf } from '../../helpers/review-page.ts';

it('runs the test cases of a skill when somebody asks for it, and shows what failed and what others claim', async () => {
  const page = await reviewPage({
    'skills/tea/evals/trigger-eval.json': JSON.stringify([
      { query: 'brew some tea', should_trigger: true },
      { query: 'rinse the pot', should_trigger: false },
    ]),
  });
  expect(textOf((await page.get('/skills/tea/evidence')).text)).toContain('Nothing was run on this content.');
  expect((await page.send('/skills/tea/evidence', '/skills/tea/evidence')).status).toBe(303);
  const shown = textOf((await page.get('/skills/tea/evidence')).text);
  expect(shown).toContain('precision 50 %, recall 100 %, of 2 queries');
  expect(shown).toContain('“rinse the pot” should not find tea');
});
