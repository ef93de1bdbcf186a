import { expect, it, onTestFinished } from 'vitest';
import { openRegistry } from '../../extensions/skill_registry/core/registry.ts';
import { attributesOf, elementsOf, pageOf, textOf } from '../helpers/review-page.ts';
import { TEA } from '../helpers/tea.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

it('has the pages of the core when the registry has no features, and leads to no other page', async () => {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA, 'skills/tea/notes.md': 'Warm the cups.\n' });
  const registry = await openRegistry({ root, noGuard: true, config: { sources: [{ path: 'skills' }] } }, []);
  onTestFinished(() => registry.close());
  const page = await pageOf({ registry, root, by: 'person:ada' });
  const shown = [
    '/',
    '/catalog',
    '/problems?files=all',
    '/decisions',
    '/skills/tea',
    '/skills/tea/files',
    '/skills/tea/agents',
  ];
  const links = new Set<string>();
  for (const path of shown) {
    const { status, text } = await page.get(path);
    expect([path, status]).toEqual([path, 200]);
    for (const element of elementsOf(text)) links.add(attributesOf(element).href ?? '');
  }
  for (const link of [...links].filter((one) => one.startsWith('/')))
    expect([link, (await page.get(link)).status]).toEqual([link, 200]);
  expect(textOf((await page.get('/skills/tea')).text)).toMatch(/Instructions\s*Files\s*Agents/);
  expect((await page.get('/skills/gone')).status).toBe(404);
});
