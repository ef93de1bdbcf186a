import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { realPathOf } from '../../../lib/files/index.ts';
import type { SourceScan } from '../sources/source.ts';

/** The problems of all sources in their order. What is wrong with a file that is reached twice, by links for example, is told once. */
export function problemsOnce(scans: readonly SourceScan[]): readonly Problem[] {
  const told = new Map<string, string>();
  const realFiles = realFilesOf(scans);
  return scans.flatMap(({ problems }, index) =>
    problems.filter((problem) => {
      const { code, file, line = 0, message } = problem;
      const real = realFiles.get(file);
      // A message may say by which name the file was reached.
      const what = JSON.stringify([code, line, real ?? placeOf(problem), real === undefined ? message : '']);
      const reachedBy = `${index} ${file}`;
      const first = told.get(what) ?? reachedBy;
      told.set(what, first);
      return first === reachedBy;
    }),
  );
}

// --- internal ---

/** Of skills with a problem, by SKILL.md as it was found. */
function realFilesOf(scans: readonly SourceScan[]): ReadonlyMap<string, string> {
  const real = new Map<string, string>();
  const wanted = new Set(scans.flatMap(({ problems }) => problems.map(({ file }) => file)));
  if (wanted.size === 0) return real;
  for (const { skills, losers = [] } of scans) {
    for (const some of [skills, losers]) {
      for (const { file, realFile } of some) if (realFile !== null && wanted.has(file)) real.set(file, realFile);
    }
  }
  return real;
}

/** What is wrong with a link is no matter of the file that it leads to. */
function placeOf({ code, file }: Problem): string {
  if (!isAbsolute(file)) return file;
  if (!code.startsWith('SYMLINK_')) return realPathOf(file) ?? file;
  const folder = realPathOf(dirname(file));
  return folder === undefined ? file : join(folder, basename(file));
}
