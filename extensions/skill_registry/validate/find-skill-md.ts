import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The path of `SKILL.md`, else of `skill.md`; undefined when neither is a file. */
export function findSkillMd(directory: string): string | undefined {
  return ['SKILL.md', 'skill.md'].map((name) => join(directory, name)).find((path) => isKind(path, 'file'));
}

/** As `findSkillMd`; where there is none, any spelling in other letter case, as the loader takes it. */
export function findAnySkillMd(directory: string): string | undefined {
  const exact = findSkillMd(directory);
  if (exact !== undefined) return exact;
  try {
    return readdirSync(directory)
      .filter((name) => name.toLowerCase() === 'skill.md')
      .map((name) => join(directory, name))
      .find((path) => isKind(path, 'file'));
  } catch {
    return undefined;
  }
}

/** Follows links. False also for what may not be looked at. */
export function isKind(path: string, kind: 'file' | 'directory' | 'anything'): boolean {
  try {
    const stats = statSync(path);
    return kind === 'anything' || (kind === 'file' ? stats.isFile() : stats.isDirectory());
  } catch {
    return false;
  }
}
