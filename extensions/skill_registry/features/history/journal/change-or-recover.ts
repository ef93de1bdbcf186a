import { lstatSync } from 'node:fs';
import { join, posix } from 'node:path';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { withFallback } from '../../../../../lib/errors/index.ts';
import {
  commitMove,
  type FolderMove,
  type MoveStep,
  moveFolder,
  readContained,
  removeContained,
  removeEmptyFolders,
  renameContained,
  TEMPORARY,
  undoMove,
  writeContained,
} from '../../../../../lib/files/index.ts';
import type { SqliteDatabase } from '../../../core/store/open-database.ts';
import { changeUnfinished, quoted, type Unfinished } from '../errors.ts';
import { addRevision, getBlob } from '../revisions.ts';
import { exists, folderOf, pathInSource, type SkillLocation } from '../skill-location.ts';
import { readFolderTree } from '../skill-tree.ts';
import type { Revision } from '../types.ts';
import type { FileChange, JournaledOperation, LocationFinder, LockChange, Operation } from './journal-entries.ts';
import * as journal from './journal-entries.ts';

/** A process may end between any two steps. */
export type OperationStep = 'intent' | 'temporary' | 'changed' | MoveStep | 'committed';

export interface OperationContext {
  readonly database: SqliteDatabase;
  /** Real path. */
  readonly dataDir: string;
  /** Larger files are not kept in the history. */
  readonly maxBytes: number;
  readonly onStep?: ((step: OperationStep) => void) | undefined;
  /** Called in the transaction that commits the change. */
  onCommit(database: SqliteDatabase, operation: Operation, revision: Revision): void;
  /** Writes a committed change into `skills-lock.json`, if not done yet. @throws for an invalid entry. */
  changeLock(change: LockChange, location: SkillLocation): void;
  /** Called for a change that stays in the journal. */
  onUnfinished(unfinished: Unfinished): void;
}

/**
 * Steps: write the journal, change the files, commit with the revision, remove temporary files. A failure before the
 * commit undoes the change, even on a full disk. The caller holds the write lock and has stored the contents.
 * @throws the failure, with nothing changed; CHANGE_UNFINISHED when undoing failed too.
 */
export function runOperation(operation: Operation, context: OperationContext): Revision {
  const { database, onStep, onUnfinished } = context;
  journal.writeEntry(database, operation);
  let revision: Revision;
  try {
    onStep?.('intent');
    make(operation, context);
    revision = commit(operation, context);
  } catch (error) {
    throw undoAfter(error, operation, context);
  }
  // Committed: a failure from here on must not be thrown.
  try {
    onStep?.('committed');
    settle(operation, context);
    journal.removeEntry(database, operation.id);
  } catch (error) {
    onUnfinished(unfinished(operation, 'settle', error));
  }
  return revision;
}

/** Finishes or undoes changes of ended processes; if neither works, they stay. The caller holds the write lock. */
export function recoverOperations(context: OperationContext, locationOf: LocationFinder): void {
  const { database, onUnfinished } = context;
  for (const entry of journal.entriesOf(database)) {
    let state: Unfinished['state'] = 'undo';
    try {
      const begun = journal.readEntry(entry, locationOf);
      if (begun.isDone) {
        state = 'settle';
        settle(begun, context);
      } else undo(begun, context);
      journal.removeEntry(database, entry.id);
    } catch (error) {
      onUnfinished({ ...journal.subjectOf(entry), state, error });
    }
  }
}

// --- internal ---

function make(operation: Operation, { database, dataDir, onStep }: OperationContext): void {
  const { location, changes, move } = operation;
  if (move) {
    moveFolder({ ...folderMove(operation, move, dataDir), onStep });
    onStep?.('changed');
  }
  for (const [index, change] of changes.entries()) {
    const { path, after, mode } = change;
    const present = digestAt(location, path);
    if (present === after && !isOfMode(change)) continue;
    assertUntouched(change, present);
    const { temporary, kept } = leftoversOf(operation, index);
    const name = pathInSource(location, path);
    if (after === null) renameContained(location.base, name, kept);
    else {
      const onTemporary = (): void => {
        onStep?.('temporary');
        assertUntouched(change, digestAt(location, path));
      };
      writeContained(location.base, name, getBlob(database, after), { temporary, keep: kept, onTemporary, mode });
    }
    onStep?.('changed');
  }
}

function commit(operation: Operation, { database, maxBytes, onCommit, dataDir }: OperationContext): Revision {
  const { location, move } = operation;
  const isArchived = move?.direction === 'out';
  const tree = readFolderTree(isArchived ? join(dataDir, move.folder) : folderOf(location), maxBytes, isArchived);
  return database.transaction(() => {
    const revision = addRevision(database, location, tree, operation);
    journal.noteArchive(database, operation);
    onCommit(database, operation, revision);
    operation.alongside?.(database);
    journal.markDone(database, operation.id);
    return revision;
  });
}

function undoAfter(error: unknown, operation: Operation, context: OperationContext): unknown {
  try {
    undo(operation, context);
  } catch (failure) {
    context.onUnfinished(unfinished(operation, 'undo', failure));
    const messages = [error, failure].map((one) => (one instanceof Error ? one.message : String(one)));
    const both = new AggregateError([error, failure], messages.join('; '));
    return changeUnfinished(unfinished(operation, 'undo', both));
  }
  // The change is undone. If this fails, the next write removes the entry.
  withFallback(() => journal.removeEntry(context.database, operation.id));
  return error;
}

function unfinished({ location }: Operation, state: Unfinished['state'], error: unknown): Unfinished {
  return { key: location.key, skillId: location.skillId, state, error };
}

/** An editor's later changes stay. @throws WRITE_FAILED. */
function undo(begun: JournaledOperation, { database, dataDir }: OperationContext): void {
  const { location, changes, move } = begun;
  if (move) {
    const folders = folderMove(begun, move, dataDir);
    if (move.direction === 'out') assertLocationFree(location, folders);
    undoMove(folders);
  }
  for (const [index, change] of [...changes.entries()].reverse()) {
    const { temporary, kept } = leftoversOf(begun, index);
    removeLeftover(location, change, temporary);
    putBack(location, change, kept, database);
    removeLeftover(location, change, kept);
    // The change may have failed after creating its folders.
    if (change.before === null) removeEmptyFolders(location.base, pathInSource(location, change.path));
  }
}

function putBack(location: SkillLocation, change: FileChange, kept: string, database: SqliteDatabase): void {
  const { path, before, modeBefore: mode } = change;
  if (!isMade(location, change)) return;
  const name = pathInSource(location, path);
  if (before === null) removeContained(location.base, name);
  else if (digestAt(location, posix.join(posix.dirname(path), kept)) === before)
    renameContained(location.base, posix.join(posix.dirname(name), kept), posix.basename(name));
  else writeContained(location.base, name, getBlob(database, before), { mode });
}

function isMade(location: SkillLocation, change: FileChange): boolean {
  const { path, before, after, mode } = change;
  if (digestAt(location, path) !== after) return false;
  if (before !== after) return true;
  const stats = lstatSync(join(folderOf(location), path), { throwIfNoEntry: false });
  return isOfMode(change) && mayRun(stats?.mode) === mayRun(mode);
}

/** Changes only whether the file may be run. */
function isOfMode({ before, after, mode, modeBefore }: FileChange): boolean {
  if (before === null || before !== after || mode === undefined || modeBefore === undefined) return false;
  return mayRun(mode) !== mayRun(modeBefore);
}

function mayRun(mode = 0): boolean {
  return (mode & 0o100) !== 0;
}

function settle(begun: JournaledOperation, { changeLock, dataDir }: OperationContext): void {
  const { location, changes, lock, move } = begun;
  if (lock) changeLock(lock, location);
  if (move) commitMove(folderMove(begun, move, dataDir));
  for (const [index, change] of changes.entries()) removeLeftover(location, change, leftoversOf(begun, index).kept);
}

/** An editor may save at any moment. What it saved must not be overwritten. */
function assertUntouched({ path, before }: FileChange, present: ReturnType<typeof digestAt>): void {
  // If it is no file, `writeContained` throws with a reason.
  if (present === before || present === undefined) return;
  const message = `Somebody changed ${quoted(path)} at this moment. Nothing was written. Look at the file, and try again.`;
  throw new CodedError('WRITE_FAILED', message, { path });
}

/** Somebody may have created the skill's folder again after the skill was archived. */
function assertLocationFree(location: SkillLocation, { to, temporary }: FolderMove): void {
  const folder = folderOf(location);
  const archived = join(to.base, to.path);
  if (!exists(folder) || !exists(archived) || exists(join(folder, '..', temporary))) return;
  const message = `${folder} exists again, and the skill is complete in ${archived}. Move one of the two folders away.`;
  throw new CodedError('WRITE_FAILED', message, { folder, archived });
}

/** null: nothing is there. undefined: no regular file, or unreadable. */
function digestAt(location: SkillLocation, path: string): string | null | undefined {
  const bytes = withFallback(() => readContained(location.base, pathInSource(location, path), Number.MAX_SAFE_INTEGER));
  if (bytes) return digestOf(bytes);
  return exists(join(folderOf(location), path)) ? undefined : null;
}

function folderMove(
  { id, location }: JournaledOperation,
  { direction, folder }: NonNullable<Operation['move']>,
  dataDir: string,
): FolderMove {
  const archive = { base: dataDir, path: folder, own: true };
  const skill = { base: location.base, path: location.below };
  const temporary = `${TEMPORARY}${id}`;
  return direction === 'out' ? { from: skill, to: archive, temporary } : { from: archive, to: skill, temporary };
}

/** Names beside each changed file: new content before it is renamed, old content until the commit. */
function leftoversOf({ id }: JournaledOperation, index: number): { readonly temporary: string; readonly kept: string } {
  return { temporary: `${TEMPORARY}${id}-${index}`, kept: `${TEMPORARY}${id}-${index}-kept` };
}

/** Also removes folders that become empty. */
function removeLeftover(location: SkillLocation, { path }: FileChange, name: string): void {
  try {
    removeContained(location.base, posix.join(location.below, posix.dirname(path), name));
  } catch (error) {
    if (!isCodedError(error, 'RESOURCE_NOT_FOUND') && !isCodedError(error, 'PATH_TRAVERSAL')) throw error;
  }
}
