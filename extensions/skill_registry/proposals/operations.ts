import { lstatSync, mkdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { CodedError, moveFolder, readContained, removeContained, writeContained } from 'skill-registry/kernel';
import type { SqliteDatabase } from '../open-database.ts';
import { digestOf, getBlob } from './blobs.ts';
import { folderOf, type Place, pathIn } from './places.ts';
import { addRevision } from './revisions.ts';
import { readFolderTree, TEMPORARY } from './skill-tree.ts';
import type { Revision } from './types.ts';

/** One file of a change. Digests are of contents in the history; null: not there. */
export interface FileChange {
  /** Relative to the skill. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Permission bits of a file that is made; and of the one before, for the way back. */
  readonly mode?: number;
  readonly modeBefore?: number;
}

/** A change of one skill, as the journal has it: enough to finish it after a crash. */
export interface Operation {
  readonly id: string;
  readonly place: Place;
  /** In this order; SKILL.md comes last when the skill is made, so that it never appears half. */
  readonly changes: readonly FileChange[];
  /** The whole folder goes into the archive, or comes out of it. */
  readonly move?: { readonly direction: 'out' | 'back'; readonly folder: string } | undefined;
  readonly kind: Revision['kind'];
  readonly by: string;
  readonly at: string;
  readonly reason?: string | undefined;
  readonly proposal?: string | undefined;
  readonly target?: number | undefined;
}

/** Moments of an operation between which a process may die. */
export type OperationStep = 'intent' | 'temporary' | 'changed' | 'committed';

export interface OperationSurroundings {
  readonly database: SqliteDatabase;
  /** Real path of the archive's parent. */
  readonly dataDir: string;
  readonly maxBytes: number;
  onStep(step: OperationStep): void;
  /** In the transaction that ends the operation. */
  onCommit(operation: Operation, revision: Revision): void;
}

/**
 * Does a change: written down first, then made, then committed together with its revision. Whatever happens in between,
 * `recover` finishes or undoes it. The caller has the write lock and has put the contents into the history.
 *
 * @throws WRITE_FAILED, PATH_TRAVERSAL ...: then nothing is changed, and nothing is left to finish.
 */
export function runOperation(operation: Operation, surroundings: OperationSurroundings): Revision {
  const { database, onStep } = surroundings;
  database.prepare('INSERT INTO operation (id, content) VALUES (?, ?)').run(operation.id, JSON.stringify(operation));
  onStep('intent');
  try {
    make(operation, surroundings);
  } catch (error) {
    tryUndo(operation, surroundings);
    throw error;
  }
  const revision = commit(operation, surroundings);
  onStep('committed');
  return revision;
}

/** Ends what a process that died has begun. The caller has the write lock. */
export function recoverOperations(surroundings: OperationSurroundings): void {
  const rows = surroundings.database.prepare('SELECT content FROM operation ORDER BY rowid').all();
  for (const { content } of rows as { content: string }[]) {
    const operation = JSON.parse(content) as Operation;
    removeTemporaries(operation);
    try {
      if (!canFinish(operation, surroundings)) {
        undo(operation, surroundings);
        continue;
      }
      make(operation, surroundings);
      commit(operation, surroundings);
    } catch {
      tryUndo(operation, surroundings);
    }
  }
}

// --- internal ---

function make({ id, place, changes, move }: Operation, { database, dataDir, onStep }: OperationSurroundings): void {
  if (move) {
    moveSkill(place, move, dataDir);
    onStep('changed');
    return;
  }
  for (const [index, change] of changes.entries()) {
    const { path, after, mode } = change;
    if (digestAt(place, path) === after) continue;
    assertUntouched(place, change);
    if (after === null) removeContained(place.base, pathIn(place, path));
    else {
      const onTemporary = (): void => {
        onStep('temporary');
        assertUntouched(place, change);
      };
      const temporary = `${TEMPORARY}${id}-${index}`;
      const options = { temporary, onTemporary, ...(mode === undefined ? {} : { mode }) };
      writeContained(place.base, pathIn(place, path), getBlob(database, after), options);
    }
    onStep('changed');
  }
}

/** What cannot be undone now stays in the journal, and is tried again by whoever changes something next. */
function tryUndo(operation: Operation, surroundings: OperationSurroundings): void {
  try {
    undo(operation, surroundings);
  } catch {
    // As said.
  }
}

/** Puts back what was changed already, as far as nobody has changed it again. */
function undo(operation: Operation, { database, dataDir }: OperationSurroundings): void {
  const { place, changes, move } = operation;
  removeTemporaries(operation);
  if (move && isDone(place, move, dataDir)) {
    moveSkill(place, { ...move, direction: move.direction === 'out' ? 'back' : 'out' }, dataDir);
  }
  for (const { path, before, after, modeBefore: mode } of changes) {
    if (before === after || digestAt(place, path) !== after) continue;
    if (before === null) removeContained(place.base, pathIn(place, path));
    else writeContained(place.base, pathIn(place, path), getBlob(database, before), mode === undefined ? {} : { mode });
  }
  forget(operation, database);
}

function commit(operation: Operation, { database, maxBytes, onCommit, dataDir }: OperationSurroundings): Revision {
  const { place, kind, by, at, reason, proposal, target, move } = operation;
  const isArchived = move?.direction === 'out';
  const tree = readFolderTree(isArchived ? join(dataDir, move.folder) : folderOf(place), maxBytes, isArchived);
  return database
    .transaction(() => {
      const note = { kind, by, at, reason, proposal, target };
      const revision = addRevision(database, place.key, place.skillId, tree, note);
      onCommit(operation, revision);
      forget(operation, database);
      return revision;
    })
    .immediate();
}

function forget({ id }: Operation, database: SqliteDatabase): void {
  database.prepare('DELETE FROM operation WHERE id = ?').run(id);
}

/** Every file is as it was before, or as it is to be; nobody else has changed it since. */
function canFinish({ place, changes, move }: Operation, { dataDir }: OperationSurroundings): boolean {
  if (move) return isDone(place, move, dataDir) || isUntouched(place, move, dataDir);
  return changes.every(({ path, before, after }) => {
    const present = digestAt(place, path);
    return present === before || present === after;
  });
}

/** An editor may save at any moment, and what it saved is not to be written over. */
function assertUntouched(place: Place, { path, before }: FileChange): void {
  const present = digestAt(place, path);
  // What is no file is refused by whoever writes, with its reason.
  if (present === before || present === undefined) return;
  const message = `Somebody has changed "${path}" at this very moment; nothing was written. Look at it, and try again.`;
  throw new CodedError('WRITE_FAILED', message, { path });
}

/** null: nothing is there; undefined: something that is no file of ours, or cannot be read. */
function digestAt(place: Place, path: string): string | null | undefined {
  try {
    return digestOf(readContained(place.base, pathIn(place, path), Number.MAX_SAFE_INTEGER));
  } catch {
    return exists(join(folderOf(place), path)) ? undefined : null;
  }
}

type Move = NonNullable<Operation['move']>;

function moveSkill(place: Place, { direction, folder }: Move, dataDir: string): void {
  const there = { base: dataDir, path: folder, own: true };
  const here = { base: place.base, path: place.below };
  if (isDone(place, { direction, folder }, dataDir)) return;
  if (direction === 'out') moveFolder(here, there);
  else {
    mkdirSync(place.base, { recursive: true });
    moveFolder(there, here);
  }
}

function isDone(place: Place, { direction, folder }: Move, dataDir: string): boolean {
  const [here, there] = [exists(folderOf(place)), exists(join(dataDir, folder))];
  return direction === 'out' ? there && !here : here && !there;
}

function isUntouched(place: Place, { direction, folder }: Move, dataDir: string): boolean {
  return isDone(place, { direction: direction === 'out' ? 'back' : 'out', folder }, dataDir);
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** What a crash has left beside the files; their names are in the journal. */
function removeTemporaries({ id, place, changes }: Operation): void {
  for (const [index, { path }] of changes.entries()) {
    const name = `${TEMPORARY}${id}-${index}`;
    try {
      removeContained(place.base, posix.join(place.below, posix.dirname(path), name));
    } catch {
      // There is none.
    }
  }
}
