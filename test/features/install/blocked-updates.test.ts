import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { attack } from '../../helpers/held.ts';
import { reviewPage, textOf } from '../../helpers/review-page.ts';
import { ADA, LONGER, TEA } from '../../helpers/tea.ts';
import { tempFolder, writeTree } from '../../helpers/temp-folder.ts';

const POT = TEA.replaceAll('tea', 'pot');

it('updates the other skills, and leaves to the command what looks like an attack', async () => {
  const page = await reviewPage();
  await page.registry.admin.management.remove('tea', ADA);
  const from = tempFolder({ 'pot/SKILL.md': POT, 'tea/SKILL.md': TEA });
  await (await page.registry.origin.add(from, { all: true })).apply(ADA);
  writeTree(from, { 'tea/SKILL.md': `${TEA}\n${attack(151)}\n` });
  await page.send('/', '/updates/check');
  const alone = await page.get('/updates');
  expect(textOf(alone.text)).toContain('This looks like an attack, and this page does not install it.');
  expect(alone.text).not.toContain('action="/updates/apply"');
  writeTree(from, { 'pot/SKILL.md': LONGER.replaceAll('tea', 'pot') });
  await page.send('/', '/updates/check');
  const done = await page.send('/updates', '/updates/apply');
  expect(done.status).toBe(200);
  expect(textOf(done.text)).toMatch(/pot is updated[\s\S]*"tea" looks like an attack/);
  expect(page.tea()).toBe(TEA);
  expect(readFileSync(join(page.root, 'skills/pot/SKILL.md'), 'utf8')).toContain('three minutes');
});
