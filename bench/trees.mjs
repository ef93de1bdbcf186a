/** The skills that are measured, in a temporary folder. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generateSkills } from './generate-skills.mjs';

/**
 * @param {string} base
 * @param {string | undefined} corpus - Folder with `wild-skills.tar.gz`.
 * @param {readonly number[]} counts - Of generated skills, a folder for each.
 * @returns folders by name; `flat` is for peers that look one level deep only.
 */
export function makeTrees(base, corpus, counts = [10_000, 25_000]) {
  const trees = {};
  if (corpus && existsSync(join(corpus, 'wild-skills.tar.gz'))) {
    execFileSync('tar', ['-xzf', join(corpus, 'wild-skills.tar.gz'), '-C', base]);
    trees.wild = {
      label: 'wild skills',
      folder: join(base, 'wild-skills'),
      flat: flatten(join(base, 'wild-skills'), join(base, 'flat')),
    };
  }
  for (const count of counts) {
    const folder = join(base, `generated-${count}`);
    generateSkills(folder, count);
    trees[`g${count / 1000}`] = { label: `${count.toLocaleString('en')} generated`, folder, flat: folder };
  }
  return trees;
}

function flatten(from, to) {
  const files = readdirSync(from, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('/SKILL.md'));
  for (const file of files) {
    // Of several with one name only the first: names in a flat folder are unique.
    const target = join(to, dirname(file).split('/').at(-1));
    if (existsSync(target)) continue;
    mkdirSync(target, { recursive: true });
    cpSync(join(from, file), join(target, 'SKILL.md'));
  }
  return to;
}
