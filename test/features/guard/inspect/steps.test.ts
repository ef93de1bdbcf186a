import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../../extensions/skill_registry/core/config/config-keys.ts';
import type { Skill } from '../../../../extensions/skill_registry/core/skill/skill.ts';
import { createDirectorySource } from '../../../../extensions/skill_registry/core/sources/kinds/directory-source.ts';
import { filesForInspection } from '../../../../extensions/skill_registry/features/guard/files-for-inspection.ts';
import { passagesOf } from '../../../../extensions/skill_registry/features/guard/inspect/passages.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';

const CHARACTERS = 400_000;

it.each([
  ['that nobody sees', '\u200b'],
  ['without a space', 'a'],
])('searches a line of characters %s with a break for every 12,000 of them', (_, character) => {
  const steps = [...passagesOf(`Text.\n${character.repeat(CHARACTERS)}`, true)];
  expect(steps.length).toBeGreaterThanOrEqual(CHARACTERS / 12_000);
});

it('lists and reads the files of a skill with a break for each folder, and tells by their stats whether they have changed with one for every hundred', async () => {
  const dir = tempFolder({ 'SKILL.md': 'Text.' });
  for (let at = 0; at < 300; at++) {
    mkdirSync(join(dir, `folder-${at}`));
    writeFileSync(join(dir, `folder-${at}`, 'file.md'), '');
  }
  const source = createDirectorySource({ id: 'own', root: dir, allowOutside: false });
  const [skill] = (await source.scan(DEFAULT_LIMITS)).skills as [Skill];
  const files = filesForInspection(() => [source], 1000);
  const read = [...files.read(skill)];
  expect(read.filter((one) => one !== undefined)).toHaveLength(301);
  expect(read.filter((one) => one === undefined)).toHaveLength(301);
  expect([...files.stamp(skill)]).toHaveLength(301 + 3);
});
