import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openElsewhere } from '../helpers/exchange.ts';
import { attack } from '../helpers/held.ts';
import { openRegistry } from '../helpers/open-registry.ts';
import { skillMd } from '../helpers/temp-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';

it('gives no held text that lay there while it was read, though the stats of all files are as they were', async () => {
  const fields = { name: 'tea', description: 'Brews tea.' };
  const { registry, root } = await openRegistry({
    'skills/tea/SKILL.md': skillMd(fields, 'Good body.'),
    'elsewhere/SKILL.md': skillMd(fields, `MARKED body.\n\n${attack(24)}`),
  });
  const file = join(root, 'skills/tea/SKILL.md');
  // Files that were changed less than two seconds ago are read again at every check.
  await waitFor('the files to be older', () => statSync(file).ctimeMs < Date.now() - 2_500);
  expect((await registry.read('tea', {}, {})).content).toBe('Good body.');
  expect(await registry.admin.trustOf('tea')).toMatchObject({ heldBecause: null });

  openElsewhere(file, join(root, 'elsewhere'));
  await expect(registry.read('tea', {}, {})).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
});

it('takes what it judged for no verdict of the files that lie there', async () => {
  const fields = { name: 'tea', description: 'Brews tea.' };
  const { registry, root } = await openRegistry({
    'skills/tea/SKILL.md': skillMd(fields, `MARKED body.\n\n${attack(25)}`),
    'elsewhere/SKILL.md': skillMd(fields, 'Good body.'),
  });
  const file = join(root, 'skills/tea/SKILL.md');
  await waitFor('the files to be older', () => statSync(file).ctimeMs < Date.now() - 2_500);
  expect(await registry.admin.trustOf('tea')).toMatchObject({ verdict: 'block' });
  let opened = 0;
  openElsewhere(file, join(root, 'elsewhere'), () => opened++ === 0);
  // A good text was read, so it may leave; the skill is as held as before.
  await registry.read('tea', {}, {}).catch(() => undefined);
  expect(opened).toBeGreaterThan(0);
  expect(await registry.admin.trustOf('tea')).toMatchObject({ verdict: 'block' });
});
