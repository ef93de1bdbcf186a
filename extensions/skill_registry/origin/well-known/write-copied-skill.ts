import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { originRefused } from '../../../../lib/fetch/index.ts';
import { temporaryName } from '../../../../lib/files/index.ts';
import { type CopiedSkill, isIntact, skillFolder, stampOf } from '../../sources/kinds/well-known-copy.ts';
import { lockedFiles } from '../lock.ts';
import type { IncomingFile } from '../opened-origin.ts';

/**
 * Writes the files of a skill into its folder of a copy, in one step. Another process may be writing the same. It is not synced to
 * disk: files that a crash of the machine has cut off do not have their digests, and are fetched again.
 *
 * @param files - With checked paths (`readOriginSkill`).
 */
export function writeCopiedSkill(
  folder: string,
  { name, digest }: Pick<CopiedSkill, 'name' | 'digest'>,
  files: readonly IncomingFile[],
): CopiedSkill {
  const skill = { name, digest, files: lockedFiles(files).files };
  if (!isIntact(folder, skill)) {
    const temporary = newFolder(folder);
    try {
      fill(temporary, files);
      moveIn(temporary, folder, skill);
    } catch (error) {
      if (PATH_ERRORS.has(codeOf(error)))
        throw originRefused(`"${name}"`, `its files cannot be written (${codeOf(error)}).`);
      throw error;
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  }
  return { ...skill, stamp: stampOf(folder, skill) };
}

// --- internal ---

/** A path is too long here, or one file is a folder of another. */
const PATH_ERRORS: ReadonlySet<string> = new Set(['ENAMETOOLONG', 'ENOTDIR', 'EEXIST', 'EISDIR', 'EINVAL']);
const IN_THE_WAY: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST', 'EPERM', 'ENOTDIR']);
const ATTEMPTS = 5;

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code);
}

/** In it nobody else has put links: nobody knows its name before. */
function newFolder(folder: string): string {
  return join(folder, 'skills', temporaryName());
}

function fill(temporary: string, files: readonly IncomingFile[]): void {
  for (const { path, bytes, executable } of files) {
    const file = join(temporary, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, bytes, { flag: 'wx', mode: executable ? 0o700 : 0o600 });
  }
}

/** The folder there is damaged, or another process was faster. */
function moveIn(temporary: string, folder: string, skill: Omit<CopiedSkill, 'stamp'>): void {
  const target = skillFolder(folder, skill);
  for (let attempt = 1; ; attempt++) {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    try {
      renameSync(temporary, target);
      return;
    } catch (error) {
      if (!IN_THE_WAY.has(codeOf(error)) || attempt === ATTEMPTS) throw error;
    }
    if (isIntact(folder, skill)) return;
    const aside = newFolder(folder);
    try {
      renameSync(target, aside);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
    rmSync(aside, { recursive: true, force: true });
  }
}
