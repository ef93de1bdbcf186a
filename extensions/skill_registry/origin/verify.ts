import type { ChangeContext } from '../history/change-context.ts';
import { slugOf } from '../sources/make-skill.ts';
import { computedHash, lockedFiles } from './digest.ts';
import { type LockEntry, readLock } from './lock.ts';
import type { IncomingFile } from './offer.ts';
import { filesAt, installedLocation } from './write-skill.ts';

/** What the disk is, against what the lock says. */
export interface LockedSkill {
  readonly id: string;
  /** In the lock. */
  readonly name: string;
  readonly source: string;
  /**
   * `same`; `drifted`: somebody has changed it here since; `absent`: it is not there; `broken`: its entry breaks the format, and
   * `reason` says how.
   */
  readonly state: 'same' | 'drifted' | 'absent' | 'broken';
  /** Only a hash is known that two different folders can share: another tool has written the entry. */
  readonly weak: boolean;
  /** Paths that differ, as far as the lock names them. */
  readonly changed: readonly string[];
  readonly reason?: string;
}

/** Compares every skill of the lock with what lies on disk. Writes nothing. @throws LOCK_INVALID. */
export function verifyLock(context: ChangeContext): readonly LockedSkill[] {
  const { skills, broken } = readLock(context.root);
  const verified = [...skills].map(([name, entry]) => verifyOne(context, name, entry));
  const unusable = [...broken].map(
    ([name, reason]): LockedSkill => ({
      ...{ id: slugOf(name), name, source: 'unknown', state: 'broken', weak: false, changed: [], reason },
    }),
  );
  return [...verified, ...unusable].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether files are what an entry says. */
export function isAsLocked(files: readonly IncomingFile[], entry: LockEntry): boolean {
  return entry.registry
    ? lockedFiles(files).digest === entry.registry.digest
    : computedHash(files) === entry.computedHash;
}

// --- internal ---

function verifyOne(context: ChangeContext, name: string, entry: LockEntry): LockedSkill {
  const known = { id: slugOf(name), name, source: entry.source, weak: entry.registry === undefined };
  const location = installedLocation(context, known.id);
  if (!location) return { ...known, state: 'absent', changed: [] };
  const files = filesAt(location);
  if (isAsLocked(files, entry)) return { ...known, state: 'same', changed: [] };
  return { ...known, state: 'drifted', changed: changedPaths(files, entry) };
}

function changedPaths(files: readonly IncomingFile[], { registry }: LockEntry): readonly string[] {
  if (!registry) return [];
  const [here, locked] = [new Set(lockedFiles(files).files), new Set(registry.files)];
  const differing = [...here].filter((line) => !locked.has(line)).concat([...locked].filter((line) => !here.has(line)));
  return [...new Set(differing.map(pathIn))].sort();
}

/** `sha256:<hex> <bytes> <mode> <path>` */
export function pathIn(line: string): string {
  return line.split(' ').slice(3).join(' ');
}
