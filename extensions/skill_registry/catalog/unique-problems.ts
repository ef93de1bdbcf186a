import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { eachInSteps, type Steps } from '../../../lib/breaks/index.ts';
import { realPathOf } from '../../../lib/files/index.ts';
import type { SourceScan } from '../sources/source.ts';

/** The problems of all sources in order. A problem of a file that several sources contain, for example by links, is reported once. */
export function* uniqueProblems(scans: readonly SourceScan[]): Steps<readonly Problem[]> {
  const reported = new Map<string, string>();
  const once: Problem[] = [];
  const realFiles = realFilesOf(scans);
  for (const [index, { problems }] of scans.entries())
    yield* eachInSteps(problems, (problem) => {
      const { code, file, line = 0, message } = problem;
      const real = realFiles.get(file);
      // The message is not compared for a skill file: it may contain the path by which the file was found.
      const key = JSON.stringify([code, line, real ?? realPathOfFile(problem), real === undefined ? message : '']);
      const reachedBy = `${index} ${file}`;
      const first = reported.get(key) ?? reachedBy;
      reported.set(key, first);
      if (first === reachedBy) once.push(problem);
    });
  return once;
}

// --- internal ---

/** Real paths of skills with a problem, by the path of SKILL.md as it was found. */
function realFilesOf(scans: readonly SourceScan[]): ReadonlyMap<string, string> {
  const real = new Map<string, string>();
  const withProblems = new Set(scans.flatMap(({ problems }) => problems.map(({ file }) => file)));
  if (withProblems.size === 0) return real;
  for (const { skills, losers = [] } of scans) {
    for (const some of [skills, losers]) {
      for (const { file, realFile } of some) if (realFile !== null && withProblems.has(file)) real.set(file, realFile);
    }
  }
  return real;
}

/** A problem of a link belongs to the link, and not to its target. */
function realPathOfFile({ code, file }: Problem): string {
  if (!isAbsolute(file)) return file;
  if (!code.startsWith('SYMLINK_')) return realPathOf(file) ?? file;
  const folder = realPathOf(dirname(file));
  return folder === undefined ? file : join(folder, basename(file));
}
