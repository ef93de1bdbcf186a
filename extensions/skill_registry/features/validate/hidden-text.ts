import { join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import type { Snapshot } from '../../core/catalog/snapshot.ts';
import type { Reading } from '../../core/read/types.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { type HiddenFinding, hiddenInNames, hiddenInText } from './text-findings.ts';

/** HIDDEN_CHARACTERS for files and file names of all skills. Reads no file that would have to be fetched. */
export async function hiddenTextOf(
  { byQualifiedId }: Snapshot,
  reading: Pick<Reading, 'readBytes' | 'resources'>,
): Promise<readonly Problem[]> {
  // Several sources may contain one file.
  const skills = new Map([...byQualifiedId.values()].map((skill) => [skill.realFile ?? skill.qualifiedId, skill]));
  const folders = hiddenInNames([...skills.values()].flatMap(({ dir }) => dir ?? []));
  const problems = folders.map(({ path, message }) => problemIn(path, message));
  for (const [done, skill] of [...skills.values()].entries()) {
    const paths = reading.resources(skill.qualifiedId).map(({ path }) => path);
    problems.push(...hiddenInNames(paths).map((finding) => problemOf(skill, finding)));
    for (const path of skill.remote ? [] : [undefined, ...paths]) {
      await takeBreak(done, skills.size);
      const options = { countsAsLoad: false, ...(path === undefined ? {} : { path }) };
      // Models cannot read a file that was removed or is too large either.
      const bytes = await reading.readBytes(skill.qualifiedId, options).catch(() => new Uint8Array());
      problems.push(...hiddenInText(path ?? '', bytes).map((finding) => problemOf(skill, finding)));
    }
  }
  return problems;
}

// --- internal ---

function problemOf({ file, dir }: Skill, { path, line, message }: HiddenFinding): Problem {
  return problemIn(path === '' || dir === null ? file : join(dir, path), message, line);
}

function problemIn(file: string, message: string, line?: number): Problem {
  return { code: 'HIDDEN_CHARACTERS', severity: 'warning', file, ...(line === undefined ? {} : { line }), message };
}
