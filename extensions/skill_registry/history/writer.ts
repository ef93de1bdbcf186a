import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isCodedError, type Problem } from 'skill-registry/kernel';
import { readContained } from '../../../lib/files/index.ts';
import { type SqliteDatabase, storeFolder } from '../store/open-database.ts';
import {
  type OperationStep,
  type OperationSurroundings,
  recoverOperations,
  runOperation,
} from './change-or-recover.ts';
import { changeUnfinished, codeDenied, type Unfinished } from './errors.ts';
import { hasUnfinished, historyError } from './history-database.ts';
import { createHistoryFile, type HistoryFile } from './history-file.ts';
import { entriesOf, type FileChange, type LocationFinder, type Operation, subjectOf } from './journal-entries.ts';
import { putBlob, recordPresent } from './revisions.ts';
import { folderOf, pathIn, type SkillLocation } from './skill-location.ts';
import { readFolderTree, type SkillTree } from './skill-tree.ts';
import type { Revision, RevisionFile } from './types.ts';
import { createWriteLock, type WriteLock } from './write-lock.ts';

/** Moments between which a process may die; a test kills one at each. */
export type WriteStep = 'locked' | 'row' | OperationStep | 'file-temporary' | 'file-written' | 'file-noted';

/** Who keeps something beside the skills that has to fit to what they are. */
export interface WriteFollower {
  /** In the transaction that makes a change count. */
  onCommit(database: SqliteDatabase, operation: Operation, revision: Revision): void;
  /**
   * Before and after whatever is written, inside the lock. Must not throw.
   *
   * @param dataDir - Real.
   * @returns what could not be written.
   */
  catchUp(database: SqliteDatabase, dataDir: string, at: string): readonly Problem[];
}

export interface WriterOptions {
  /** `<root>/data/skill_registry`; made when something is written. */
  readonly dataDir: string;
  /** Larger files are not kept. */
  readonly maxBytes: number;
  /** Whether code lies at a real, absolute path: what an agent decides has no effect there. */
  isCode(path: string): boolean;
  /** Where a skill of the journal lies now. */
  readonly locationOf: LocationFinder;
  /**
   * False: nothing that is in the data folder is acted upon, and reading writes nothing into it: what a process that died has left
   * stays as it is. A change that is asked for is made all the same. Default: true.
   */
  readonly mayRecover?: boolean;
  /** Default: nobody. */
  readonly follower?: WriteFollower;
  readonly now?: () => Date;
  readonly onStep?: (step: WriteStep) => void;
}

/** A change of one skill before it is one: contents instead of digests. */
export interface PlannedChange extends Omit<Operation, 'id' | 'at' | 'changes'> {
  readonly changes: readonly { readonly path: string; readonly after: Buffer | null; readonly mode?: number }[];
}

/** What came of something that is only done where it can be. */
export type IfPossible<T> = { readonly result: T } | { readonly reason: string };

/** The one place where skills and their history are written. */
export class Writer {
  readonly dataDir: string;
  readonly #options: WriterOptions;
  readonly #mayRecover: boolean;
  readonly #lock: WriteLock;
  readonly #history: HistoryFile;
  /** What was left undone when somebody wrote last. */
  #unfinished: readonly Unfinished[] = [];
  /** What the follower could not write then. */
  #behind: readonly Problem[] = [];

  constructor(options: WriterOptions) {
    const { dataDir, mayRecover = true } = options;
    this.dataDir = dataDir;
    this.#options = options;
    this.#mayRecover = mayRecover;
    this.#lock = createWriteLock(join(dataDir, 'write.lock'));
    this.#history = createHistoryFile(join(dataDir, 'history.db'), !mayRecover);
  }

  /** ISO 8601, UTC. */
  now(): string {
    return (this.#options.now?.() ?? new Date()).toISOString();
  }

  /** For reading. @throws as `HistoryFile.reading`. */
  database(): SqliteDatabase {
    return this.#history.reading();
  }

  /**
   * Runs `use` as the only writer of all processes. What a crash has left is ended before, and the follower catches up after; what
   * cannot be ended or written is in `problems`, and is no reason to fail. `use` is also given the real path of the data folder.
   */
  async exclusively<T>(use: (database: SqliteDatabase, dataDir: string) => T): Promise<T> {
    this.#history.assertOpen();
    return this.#lock.run(() => this.#guarded(use));
  }

  /** As `exclusively`, unless somebody else is writing: then undefined. */
  ifFree<T>(use: (database: SqliteDatabase) => T): T | undefined {
    this.#history.assertOpen();
    return this.#lock.tryRun(() => this.#guarded(use));
  }

  /** As `exclusively`, for what reading puts down: where nothing may or can be written, that is no reason to fail. */
  async ifPossible<T>(use: (database: SqliteDatabase) => T): Promise<IfPossible<T>> {
    if (!this.#mayRecover) return { reason: 'in this root nothing is written before somebody approves it' };
    try {
      return { result: await this.exclusively(use) };
    } catch (error) {
      const known = this.explain(error);
      if (isCodedError(known, 'WRITE_FAILED') || isCodedError(known, 'STORE_UNAVAILABLE'))
        return { reason: known.message };
      throw known;
    }
  }

  /** Whether somebody has written here before. */
  hasHistory(): boolean {
    return this.#history.exists();
  }

  /** Whether a process has died in the middle of a change, or a proposal's report is still to be written. */
  hasUnfinished(): boolean {
    return this.#history.exists() && hasUnfinished(this.#history.reading());
  }

  /** What was left undone when somebody wrote last: CHANGE_UNFINISHED, HISTORY_ROW_REFUSED, and of reports of proposals WRITE_FAILED, PROPOSAL_FILE_EDITED. */
  problems(): readonly Problem[] {
    const unfinished = this.#unfinished.filter(({ state }) => state !== 'waiting');
    return [...unfinished.map((one) => problemOf(one, this.#history.path)), ...this.#behind];
  }

  /** @throws CHANGE_UNFINISHED when an earlier change of the skill is still to be undone. Inside `exclusively`. */
  assertFinished(key: string): void {
    const found = this.#unfinished.find((one) => one.key === key && one.state !== 'settle' && !isRefused(one));
    if (found) throw changeUnfinished(found);
  }

  /** Puts what a skill is now into the history, inside `exclusively`. */
  record(location: SkillLocation): void {
    recordLocation(this.#history.reading(), location, this.#options.maxBytes, this.now());
  }

  /** Changes a skill, inside `exclusively`. @throws as `runOperation` and `assertFinished`; WRITE_DENIED for code. */
  apply(planned: PlannedChange): Revision {
    this.assertFinished(planned.location.key);
    assertNoCodeOfAgents(planned, this.#options.isCode);
    const database = this.#history.reading();
    const at = this.now();
    const before = recordLocation(database, planned.location, this.#options.maxBytes, at);
    const changes = planned.changes.map(({ path, after, mode }): FileChange => {
      const file = before.find((one) => one.path === path);
      return {
        path,
        before: file ? keptDigest(database, planned.location, file) : null,
        after: after === null ? null : putBlob(database, after),
        mode,
        modeBefore: file?.mode,
      };
    });
    const id = randomBytes(6).toString('hex');
    return runOperation({ ...planned, id, at, changes }, this.#surroundings(database));
  }

  /** What an error of the database means to whoever asked. */
  explain(error: unknown): unknown {
    return historyError(this.#history.path, error);
  }

  step(step: WriteStep): void {
    this.#options.onStep?.(step);
  }

  close(): void {
    this.#lock.close();
    this.#history.close();
  }

  #guarded<T>(use: (database: SqliteDatabase, dataDir: string) => T): T {
    this.step('locked');
    return this.#history.writing((database) => {
      const surroundings = this.#surroundings(database);
      this.#unfinished = this.#mayRecover ? [] : waitingIn(database);
      if (this.#mayRecover) {
        recoverOperations(surroundings, this.#options.locationOf);
        this.#catchUp(surroundings);
      }
      const result = use(database, surroundings.dataDir);
      this.#catchUp(surroundings);
      return result;
    });
  }

  #catchUp({ database, dataDir }: OperationSurroundings): void {
    this.#behind = this.#options.follower?.catchUp(database, dataDir, this.now()) ?? [];
  }

  #surroundings(database: SqliteDatabase): OperationSurroundings {
    const { dataDir, follower, maxBytes } = this.#options;
    storeFolder(dataDir);
    return {
      ...{ database, dataDir: realpathSync(dataDir), maxBytes },
      onStep: (step) => this.step(step),
      onCommit(operation, revision) {
        noteArchive(database, operation);
        follower?.onCommit(database, operation, revision);
      },
      onUnfinished: (one) => {
        this.#unfinished = [...this.#unfinished, one];
      },
    };
  }
}

/** Whether a name is that of a person, and not an agent's or nobody's. */
export function isPerson(by: string): boolean {
  return !by.startsWith('agent:') && by !== 'unknown';
}

// --- internal ---

/** Whatever the owner allows agents to write, or a reviewing agent to decide, code is for a person. @throws WRITE_DENIED. */
function assertNoCodeOfAgents({ location, changes, by }: PlannedChange, isCode: WriterOptions['isCode']): void {
  if (isPerson(by)) return;
  const paths = [folderOf(location), ...changes.map(({ path }) => join(folderOf(location), path))];
  if (paths.some(isCode)) throw codeDenied(location.skillId);
}

/** What is about to change is in the history first, whoever made it what it is. */
function recordLocation(
  database: SqliteDatabase,
  location: SkillLocation,
  maxBytes: number,
  at: string,
): Revision['files'] {
  let tree: SkillTree;
  try {
    tree = readFolderTree(folderOf(location), maxBytes);
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_NOT_FOUND')) return [];
    throw error;
  }
  recordPresent(database, location, tree, at);
  return tree.files;
}

/** What is too large for a revision is kept all the same when it is changed: else the change could not be undone. */
function keptDigest(database: SqliteDatabase, location: SkillLocation, { path, digest, kept }: RevisionFile): string {
  if (kept) return digest;
  return putBlob(database, readContained(location.base, pathIn(location, path), Number.MAX_SAFE_INTEGER));
}

function noteArchive(database: SqliteDatabase, { by, at, move, location }: Operation): void {
  if (move?.direction === 'out') {
    database
      .prepare('INSERT INTO archived (skill_id, place, folder, at, by) VALUES (?, ?, ?, ?, ?)')
      .run(location.skillId, location.key, move.folder, at, by);
  }
  if (move?.direction === 'back') {
    database.prepare('UPDATE archived SET restored_at = ? WHERE folder = ?').run(at, move.folder);
  }
}

/** What others have begun and nobody here may end. */
function waitingIn(database: SqliteDatabase): readonly Unfinished[] {
  return entriesOf(database).map((entry) => ({ id: entry.id, ...subjectOf(entry), state: 'waiting' }));
}

/** No registry has begun it, so nothing of it is to be undone. */
function isRefused({ error }: Unfinished): boolean {
  return isCodedError(error, 'HISTORY_ROW_REFUSED');
}

function problemOf(one: Unfinished, file: string): Problem {
  const { code, message } = isCodedError(one.error, 'HISTORY_ROW_REFUSED') ? one.error : changeUnfinished(one);
  return { code, severity: one.state === 'settle' ? 'warning' : 'error', file, message };
}
