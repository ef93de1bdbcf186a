import { expect, it } from 'vitest';
import { attack } from '../../helpers/held.ts';
import { attributesOf, elementsOf, reviewPage, textOf } from '../../helpers/review-page.ts';

it('shows a finding below its line in the file that has it', async () => {
  const page = await reviewPage({ 'skills/tea/scripts/run.sh': `#!/bin/sh\n# first\n${attack(82)}\n` });
  await page.registry.admin.inspectSkills();
  const { text } = await page.get('/skills/tea/files?path=scripts/run.sh');
  const rows = elementsOf(text).filter(({ tagName }) => tagName === 'tr');
  const at = rows.findIndex((row) => attributesOf(row).id === 'line-3');
  expect(attributesOf(rows[at + 1] ?? (rows[0] as never)).class).toBe('remark');
  expect(rows.filter((row) => attributesOf(row).class === 'remark')).toHaveLength(1);
});

it('marks a held text wherever it shows one', async () => {
  const page = await reviewPage({ 'skills/tea/notes.md': `Notes.\n${attack(83)}\n` });
  // Written after the catalog was read: only what is shown says so.
  for (const path of ['/skills/tea', '/skills/tea/files?path=notes.md', '/skills/tea/text?path=notes.md']) {
    const { text } = await page.get(path);
    expect(textOf(text)).toMatch(/Held.*no agent is given/);
  }
});
