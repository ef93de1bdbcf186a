import { lstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { withFallback } from '../../../../lib/errors/index.ts';
import { isInside, readContained } from '../../../../lib/files/index.ts';
import { type Skill, slugOf } from '../../core/skill/skill.ts';

/** The skills that `skills-lock.json` of a root lists. */
export interface Installed {
  has(skill: Pick<Skill, 'dir'>): boolean;
  /** Reads the file again if it has changed. */
  renew(): void;
}

/** Bytes of the lock. */
export const MAX_LOCK: number = 16 * 1024 * 1024;
const NAME = 'skills-lock.json';

/** `root` is absolute and real. */
export function createInstalled(root: string): Installed {
  let stamp = '';
  let names: ReadonlySet<string> = new Set();
  return {
    has: ({ dir }) => names.size > 0 && dir !== null && names.has(slugOf(basename(dir))) && isInside(dir, root),
    renew() {
      const stats = lstatSync(join(root, NAME), { throwIfNoEntry: false });
      const now = stats ? `${stats.size} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.ino}` : '';
      if (now === stamp) return;
      stamp = now;
      names = new Set(stats ? namesIn(root).map(slugOf) : []);
    },
  };
}

// --- internal ---

function namesIn(root: string): readonly string[] {
  const { skills } = withFallback(() => JSON.parse(readContained(root, NAME, MAX_LOCK).toString('utf8'))) ?? {};
  return typeof skills === 'object' && skills !== null ? Object.keys(skills) : [];
}
