import { originRefused } from '../../../lib/fetch/index.ts';
import { futureRealPath } from '../../../lib/files/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { skillExists } from '../history/errors.ts';
import {
  checkValid,
  filePath,
  folderExists,
  folderOf,
  locationForNew,
  locationOfSkill,
  type SkillLocation,
} from '../history/skill-location.ts';
import { readFolderTree } from '../history/skill-tree.ts';
import type { Actor, Revision } from '../history/types.ts';
import type { LockEntry } from './lock.ts';
import { changeLock } from './lock.ts';
import type { FileConflict } from './merge-files.ts';
import { type IncomingFile, MAX_UNPACKED } from './offer.ts';

/** One skill as it is to be on disk, with what the lock is to say of it. */
export interface SkillToWrite {
  readonly location: SkillLocation;
  readonly kind: Extract<Revision['kind'], 'installed' | 'updated'>;
  readonly files: readonly IncomingFile[];
  /** Files that are there and are to go. */
  readonly gone: readonly string[];
  /** Files that somebody must decide about. */
  readonly conflicts: readonly FileConflict[];
  /** Name and entry in the lock. */
  readonly name: string;
  readonly entry: LockEntry;
}

/** Where a skill that is not there yet is to lie. @param folder - Of a source. Default: the first that may be written. */
export function locationFor(context: ChangeContext, id: string, folder?: string): SkillLocation {
  const wanted = folder === undefined ? undefined : futureRealPath(folder);
  const sources = context
    .sources()
    .filter((one) => !wanted || (one.writing && futureRealPath(one.writing.folder) === wanted));
  if (wanted !== undefined && sources.length === 0)
    throw originRefused(
      folder ?? '',
      `no source reads it, so no agent would see the skill. Add { path: ${JSON.stringify(folder)} } to sources.`,
    );
  const location = locationForNew(id, sources, context.root);
  if (folderExists(location)) throw skillExists(id, `${folderOf(location)} is there already`);
  return location;
}

/** Where an installed skill lies; undefined when it is not there. */
export function installedLocation(context: ChangeContext, id: string): SkillLocation | undefined {
  const all = [...context.snapshot().byQualifiedId.values()].filter((one) => one.id === id && one.dir !== null);
  for (const skill of all) {
    try {
      return locationOfSkill(skill, context.sources(), context.root);
    } catch {
      // Another source that may not be written has one of that id as well.
    }
  }
  return undefined;
}

/** What lies on disk, in the form that the lock speaks of. */
export function filesAt(location: SkillLocation): readonly IncomingFile[] {
  const { files, bytes } = readFolderTree(folderOf(location), MAX_UNPACKED);
  return files.map(({ path, mode }) => ({
    path: path === location.skillFile ? 'SKILL.md' : path,
    bytes: bytes.get(path) ?? Buffer.alloc(0),
    executable: (mode & 0o100) !== 0,
  }));
}

/**
 * Checks everything, then writes one skill after the other, each whole or not at all, with its revision. The lock is written
 * first: what a crash leaves is an entry whose skill is absent, which `verify` says.
 *
 * @throws SKILL_INVALID, SKILL_EXISTS, SOURCE_NOT_WRITABLE, INVALID_ARGUMENT for a path that is never written, WRITE_FAILED.
 */
export async function writeSkills(
  context: ChangeContext,
  skills: readonly SkillToWrite[],
  { by, reason }: Actor,
): Promise<readonly Revision[]> {
  const revisions = await context.writer.exclusively(() => {
    const drafts = skills.map((skill) => ({ skill, changes: changesOf(skill) }));
    return drafts.map(({ skill, changes }) => {
      const { name, entry, location, kind } = skill;
      context.writer.assertFinished(location.key);
      const undo = changeLock(context.root, new Map([[name, entry]]));
      try {
        return context.writer.apply({ location, changes, kind, by, reason });
      } catch (error) {
        undo();
        throw error;
      }
    });
  });
  await context.refresh();
  return revisions;
}

// --- internal ---

function changesOf({ location, kind, files, gone }: SkillToWrite) {
  if (kind === 'installed' && folderExists(location))
    throw skillExists(location.skillId, `${folderOf(location)} is there already`);
  const isSkillFile = ({ path }: IncomingFile): boolean => path === 'SKILL.md';
  // A skill appears when its SKILL.md does.
  const sorted = [...files.filter((file) => !isSkillFile(file)), ...files.filter(isSkillFile)];
  return [
    ...gone.map((path) => ({ path: filePath(path, location), after: null })),
    ...sorted.map(({ path, bytes, executable }) => {
      const target = filePath(path, location);
      checkValid(location, target, null, bytes);
      return { path: target, after: bytes, mode: executable ? 0o755 : 0o644 };
    }),
  ];
}
