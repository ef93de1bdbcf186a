import { lstatSync } from 'node:fs';
import { join, posix } from 'node:path';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import {
  type FolderMove,
  type MoveStep,
  moveFolder,
  readContained,
  removeContained,
  removeEmptyFolders,
  renameContained,
  settleMove,
  undoMove,
  writeContained,
} from '../../../lib/files/index.ts';
import { TEMPORARY } from '../sources/walk/find-skill-files.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { changeUnfinished, type Unfinished } from './errors.ts';
import {
  type Begun,
  entriesOf,
  type FileChange,
  type LocationFinder,
  markDone,
  type Operation,
  readEntry,
  removeEntry,
  subjectOf,
  writeEntry,
} from './journal-entries.ts';
import { addRevision, getBlob } from './revisions.ts';
import { folderOf, pathIn, type SkillLocation } from './skill-location.ts';
import { digestOf, readFolderTree } from './skill-tree.ts';
import type { Revision } from './types.ts';

/** Moments of an operation between which a process may die. */
export type OperationStep = 'intent' | 'temporary' | 'changed' | MoveStep | 'committed';

export interface OperationSurroundings {
  readonly database: SqliteDatabase;
  /** Real path of the archive's parent. */
  readonly dataDir: string;
  readonly maxBytes: number;
  onStep(step: OperationStep): void;
  /** In the transaction that makes the change count. */
  onCommit(operation: Operation, revision: Revision): void;
  /** What stays in the journal, and why. */
  onUnfinished(unfinished: Unfinished): void;
}

/**
 * Does a change: written down first, then made, then it counts, together with its revision, then what it has put aside goes.
 * Until it counts it is undone by whatever fails or dies; to undo it takes no room on a disk. The caller has the write lock and
 * has put the contents into the history.
 *
 * @throws what has failed: then nothing is changed. CHANGE_UNFINISHED when it could not be undone either.
 */
export function runOperation(operation: Operation, surroundings: OperationSurroundings): Revision {
  const { database, onStep, onUnfinished } = surroundings;
  writeEntry(database, operation);
  let revision: Revision;
  try {
    onStep('intent');
    make(operation, surroundings);
    revision = commit(operation, surroundings);
  } catch (error) {
    throw undoAfter(error, operation, surroundings);
  }
  // It counts: nothing that fails from here on may say otherwise.
  try {
    onStep('committed');
    settle(operation, surroundings);
    removeEntry(database, operation.id);
  } catch (error) {
    const { key, skillId } = operation.location;
    onUnfinished({ id: operation.id, key, skillId, state: 'settle', error });
  }
  return revision;
}

/** Ends what a process that died has begun. The caller has the write lock. What cannot be ended is told, and stays as it is. */
export function recoverOperations(surroundings: OperationSurroundings, locationOf: LocationFinder): void {
  const { database, onUnfinished } = surroundings;
  for (const entry of entriesOf(database)) {
    let state: Unfinished['state'] = 'undo';
    try {
      const begun = readEntry(entry, locationOf);
      if (begun.isDone) {
        state = 'settle';
        settle(begun, surroundings);
      } else undo(begun, surroundings);
      removeEntry(database, entry.id);
    } catch (error) {
      onUnfinished({ id: entry.id, ...subjectOf(entry), state, error });
    }
  }
}

// --- internal ---

function make(operation: Operation, { database, dataDir, onStep }: OperationSurroundings): void {
  const { location, changes, move } = operation;
  if (move) {
    moveFolder({ ...folderMove(operation, move, dataDir), onStep });
    onStep('changed');
  }
  for (const [index, change] of changes.entries()) {
    const { path, after, mode } = change;
    if (digestAt(location, path) === after) continue;
    assertUntouched(location, change);
    const names = leftoversOf(operation, index);
    if (after === null) renameContained(location.base, pathIn(location, path), names.kept);
    else {
      const onTemporary = (): void => {
        onStep('temporary');
        assertUntouched(location, change);
      };
      const options = { temporary: names.temporary, keep: names.kept, onTemporary };
      const bytes = getBlob(database, after);
      writeContained(location.base, pathIn(location, path), bytes, mode === undefined ? options : { ...options, mode });
    }
    onStep('changed');
  }
}

/** What is there now is the revision, and counts. */
function commit(operation: Operation, { database, maxBytes, onCommit, dataDir }: OperationSurroundings): Revision {
  const { location, kind, by, at, reason, proposal, target, move } = operation;
  const isArchived = move?.direction === 'out';
  const tree = readFolderTree(isArchived ? join(dataDir, move.folder) : folderOf(location), maxBytes, isArchived);
  return database.transaction(() => {
    const note = { kind, by, at, reason, proposal, target };
    const revision = addRevision(database, location.key, location.skillId, tree, note);
    onCommit(operation, revision);
    markDone(database, operation.id);
    return revision;
  });
}

/** @returns what to throw. */
function undoAfter(error: unknown, operation: Operation, surroundings: OperationSurroundings): unknown {
  const { id, location } = operation;
  try {
    undo(operation, surroundings);
  } catch (failure) {
    const unfinished: Unfinished = { id, key: location.key, skillId: location.skillId, state: 'undo', error: failure };
    surroundings.onUnfinished(unfinished);
    return changeUnfinished({
      ...unfinished,
      error: new AggregateError([error, failure], `${text(error)}; ${text(failure)}`),
    });
  }
  try {
    removeEntry(surroundings.database, id);
  } catch {
    // Nothing is left to undo, so whoever changes something next only takes it out of the journal.
  }
  return error;
}

/** Puts back what was changed already, as far as nobody has changed it again. @throws WRITE_FAILED when it cannot. */
function undo(begun: Begun, { database, dataDir }: OperationSurroundings): void {
  const { location, changes, move } = begun;
  if (move) {
    const folders = folderMove(begun, move, dataDir);
    if (move.direction === 'out') assertNoStranger(location, folders);
    undoMove(folders);
  }
  for (const [index, change] of [...changes.entries()].reverse()) {
    const { temporary, kept } = leftoversOf(begun, index);
    removeLeftover(location, change, temporary);
    putBack(location, change, kept, database);
    removeLeftover(location, change, kept);
    // It may have failed when only the folders were made.
    if (change.before === null) removeEmptyFolders(location.base, pathIn(location, change.path));
  }
}

function putBack(
  location: SkillLocation,
  { path, before, after, modeBefore: mode }: FileChange,
  kept: string,
  database: SqliteDatabase,
): void {
  if (before === after || digestAt(location, path) !== after) return;
  const name = pathIn(location, path);
  if (before === null) removeContained(location.base, name);
  else if (digestAt(location, posix.join(posix.dirname(path), kept)) === before)
    renameContained(location.base, posix.join(posix.dirname(name), kept), posix.basename(name));
  else writeContained(location.base, name, getBlob(database, before), mode === undefined ? {} : { mode });
}

/** Removes what a change that counts has put aside. */
function settle(begun: Begun, { dataDir }: OperationSurroundings): void {
  const { location, changes, move } = begun;
  if (move) settleMove(folderMove(begun, move, dataDir));
  for (const [index, change] of changes.entries()) removeLeftover(location, change, leftoversOf(begun, index).kept);
}

/** An editor may save at any moment, and what it saved is not to be written over. */
function assertUntouched(location: SkillLocation, { path, before }: FileChange): void {
  const present = digestAt(location, path);
  // What is no file is refused by whoever writes, with its reason.
  if (present === before || present === undefined) return;
  const message = `Somebody has changed "${path}" at this very moment; nothing was written. Look at it, and try again.`;
  throw new CodedError('WRITE_FAILED', message, { path });
}

/** Somebody may have made a folder where the skill was, while the skill was in the archive already. */
function assertNoStranger(location: SkillLocation, { to, temporary }: FolderMove): void {
  const folder = folderOf(location);
  const archived = join(to.base, to.path);
  if (!exists(folder) || !exists(archived) || exists(join(folder, '..', temporary))) return;
  const message = `Something else is in ${folder} by now; the skill lies whole in ${archived}. Move one of them away.`;
  throw new CodedError('WRITE_FAILED', message, { folder, archived });
}

/** null: nothing is there; undefined: something that is no file of ours, or cannot be read. */
function digestAt(location: SkillLocation, path: string): string | null | undefined {
  try {
    return digestOf(readContained(location.base, pathIn(location, path), Number.MAX_SAFE_INTEGER));
  } catch {
    return exists(join(folderOf(location), path)) ? undefined : null;
  }
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

function folderMove(
  { id, location }: Begun,
  { direction, folder }: NonNullable<Operation['move']>,
  dataDir: string,
): FolderMove {
  const archive = { base: dataDir, path: folder, own: true };
  const skill = { base: location.base, path: location.below };
  const temporary = `${TEMPORARY}${id}`;
  return direction === 'out' ? { from: skill, to: archive, temporary } : { from: archive, to: skill, temporary };
}

/** Beside each file of a change: its new content before it gets its name, and the old one until the change counts. */
function leftoversOf({ id }: Begun, index: number): { readonly temporary: string; readonly kept: string } {
  return { temporary: `${TEMPORARY}${id}-${index}`, kept: `${TEMPORARY}${id}-${index}-kept` };
}

/** With the folders that are empty then. */
function removeLeftover(location: SkillLocation, { path }: FileChange, name: string): void {
  try {
    removeContained(location.base, posix.join(location.below, posix.dirname(path), name));
  } catch (error) {
    // There is none, mostly.
    if (!isCodedError(error, 'RESOURCE_NOT_FOUND') && !isCodedError(error, 'PATH_TRAVERSAL')) throw error;
  }
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
