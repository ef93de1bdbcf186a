import { join } from 'node:path';
import { it } from 'vitest';
import { FLIP_FILE, FLIP_FOLDER, keepBusy } from '../helpers/busy-process.ts';
import { callOften, expectBothOutcomes, skillToRaceFor } from '../helpers/skill-race.ts';

const GUIDE = { skill_id: 'good', path: 'references/guide.md' };

it('never reads through a file that flips between itself and a link', async () => {
  const { root, dir, outside, registry } = await skillToRaceFor();
  const target = join(dir, 'references/guide.md');
  const other = await keepBusy(FLIP_FILE, [target, join(root, 'good-guide.md'), join(outside, 'guide.md')]);
  const answers = await callOften(registry, 'read_skill_resource', GUIDE, 'file');
  await other.stop();
  expectBothOutcomes(answers, 'Good guide.');
});

it('never reads through a folder that flips between itself and a link', async () => {
  const { dir, outside, registry } = await skillToRaceFor();
  const other = await keepBusy(FLIP_FOLDER, [join(dir, 'references'), outside]);
  const answers = await callOften(registry, 'read_skill_resource', GUIDE, 'folder');
  await other.stop();
  expectBothOutcomes(answers, 'Good guide.');
});
