import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { heldSkill, untilHeld } from '../helpers/held.ts';
import { reviewPage, textOf } from '../helpers/review-page.ts';
import { skillMd } from '../helpers/temp-folder.ts';

const BROKEN = 'skills/broken/SKILL.md';
const EMPTY = '---\nname: broken\n---\n';

it('counts what is wrong on the inbox, and lists it in words, then the code, with what to do', async () => {
  const page = await reviewPage({
    [BROKEN]: EMPTY,
    'skills/odd/SKILL.md': skillMd({ name: 'another', description: 'Its folder has another name.' }),
  });
  const wrong = page.registry.problems();
  expect(wrong.map(({ severity }) => severity).sort()).toEqual(['error', 'warning']);
  expect(textOf((await page.get('/')).text)).toContain('1 error and 1 warning in skills, sources and settings');
  const { status, text } = await page.get('/problems');
  expect(status).toBe(200);
  for (const { code, message } of wrong) {
    expect(textOf(text)).toContain(code);
    expect(textOf(text)).toContain(message);
  }
  expect(textOf(text)).toMatch(/Skill empty error 1 SKILL_EMPTY/);
  expect(textOf(text)).toContain(BROKEN);
  // Relative to the root, which the page names once.
  expect(textOf(text)).not.toContain(join(page.root, BROKEN));
  expect(textOf(text).indexOf('error')).toBeLessThan(textOf(text).indexOf('warning'));
});

it('says that nothing is wrong when that is so, also after it was mended', async () => {
  const page = await reviewPage({ [BROKEN]: EMPTY });
  expect(textOf((await page.get('/problems')).text)).toContain('SKILL_EMPTY');
  rmSync(join(page.root, 'skills/broken'), { recursive: true });
  await page.registry.refresh();
  expect(textOf((await page.get('/problems')).text)).toContain('Nothing is wrong.');
  expect(textOf((await page.get('/')).text)).not.toContain('in skills, sources and settings');
});

it('leads from a problem to where something about it can be pressed, and from others nowhere', async () => {
  const page = await reviewPage({ ...heldSkill('setup', 83), [BROKEN]: EMPTY });
  await untilHeld(page.registry, 'setup');
  const { text } = await page.get('/problems');
  expect(text.match(/class="button small" href="[^"]*"/g)).toEqual([
    'class="button small" href="/skills/skills%3Asetup"',
  ]);
});

it('looks into every file when it is asked to, as doctor does', async () => {
  const page = await reviewPage({ 'skills/tea/notes.md': 'Nobody sees\u{e0041} this.' });
  expect(textOf((await page.get('/problems')).text)).not.toContain('HIDDEN_CHARACTERS');
  const { text } = await page.get('/problems?files=all');
  expect(textOf(text)).toContain('HIDDEN_CHARACTERS');
  expect(text).toContain('href="/skills/skills%3Atea"');
});
