import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry } from 'skill-registry';
import { expect, it } from 'vitest';
import { tempFolder } from '../helpers/temp-folder.ts';

const BENCH = join(import.meta.dirname, '../../bench');

/** The measurements are plain JavaScript, run by Node itself. */
function evaluate(script: string): string {
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: BENCH, encoding: 'utf8' });
}

it('generates skills that are valid to the strictest profile but one, the same each time', async () => {
  const folders = [tempFolder(), tempFolder()];
  for (const folder of folders) {
    evaluate(`import { generateSkills } from './generate-skills.mjs'; generateSkills(${JSON.stringify(folder)}, 20)`);
  }
  const [first = '', second = ''] = folders;
  const registry = await createSkillRegistry({
    config: { sources: [{ path: first, validation: 'spec' }] },
    cache: 'memory',
  });
  expect(registry.problems()).toEqual([]);
  expect(registry.snapshot().skills).toHaveLength(20);
  const texts = [first, second].map((folder) => readFileSync(join(folder, 'skill-00019/SKILL.md'), 'utf8'));
  expect(texts[0]).toBe(texts[1]);
  await registry.close();
});

it('counts with its floors what is there, and finds the middle', () => {
  const folder = tempFolder({ 'a/SKILL.md': 'x', 'b/c/SKILL.md': 'x', 'd/other.md': 'x' });
  const counted = evaluate(
    `import { readFloor, statFloor } from './floors.mjs'; import { median, percentile } from './statistics.mjs';
     console.log(statFloor(${JSON.stringify(folder)}), readFloor(${JSON.stringify(folder)}), median([3, 1, 2]), percentile([1, 2, 3, 4], 0.95))`,
  );
  expect(counted.trim()).toBe('2 2 2 4');
});
