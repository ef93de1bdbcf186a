/** Baselines: the fewest calls of the file system that a program needs, made synchronously. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Lists every folder and takes the stats of every SKILL.md. @returns how many there are. */
export function statFloor(folder) {
  return walk(folder, statSync);
}

/** Lists every folder and reads every SKILL.md. @returns how many there are. */
export function readFloor(folder) {
  return walk(folder, readFileSync);
}

function walk(folder, use) {
  let count = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) count += walk(path, use);
    else if (entry.name === 'SKILL.md') {
      use(path);
      count += 1;
    }
  }
  return count;
}
