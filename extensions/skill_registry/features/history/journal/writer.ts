import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError, isCodedError, type Problem } from 'skill-registry/kernel';
import { unlessCoded } from '../../../../../lib/errors/index.ts';
import { readContained } from '../../../../../lib/files/index.ts';
import { foldLine } from '../../../../../lib/text/index.ts';
import { makeStoreFolder, type SqliteDatabase } from '../../../core/store/open-database.ts';
import { changeUnfinished, type Unfinished } from '../errors.ts';
import { putBlob, recordPresent } from '../revisions.ts';
import { folderOf, pathInSource, type SkillLocation } from '../skill-location.ts';
import { readFolderTree } from '../skill-tree.ts';
import type { Revision, RevisionFile } from '../types.ts';
import { type OperationContext, type OperationStep, recoverOperations, runOperation } from './change-or-recover.ts';
import { hasUnfinished, historyError } from './history-database.ts';
import { createHistoryFile, type HistoryFile } from './history-file.ts';
import { type FileChange, type LocationFinder, type Operation, unfinishedIn } from './journal-entries.ts';
import { createWriteLock, type WriteLock } from './write-lock.ts';

/** A process may end between any two steps; a test ends one at each. */
export type WriteStep = 'locked' | 'row' | OperationStep | 'file-temporary' | 'file-written' | 'file-noted';

export interface WriterOptions extends Pick<OperationContext, 'changeLock' | 'maxBytes' | 'onCommit'> {
  /** `<root>/data/skill_registry`. The first write creates it. */
  readonly dataDir: string;
  /** Whether a real, absolute path is code, which no agent may change. */
  isCode(path: string): boolean;
  readonly locationOf: LocationFinder;
  /** False: unfinished changes stay, and reading writes nothing into the data folder. */
  readonly mayRecover: boolean;
  /** Writes due reports, before and after every write, with the lock held. Must not throw. @param dataDir - Real. */
  catchUp(database: SqliteDatabase, dataDir: string, at: string, onStep: WriterOptions['onStep']): readonly Problem[];
  readonly onStep?: ((step: WriteStep) => void) | undefined;
}

export interface PlannedChange extends Omit<Operation, 'id' | 'at' | 'changes'> {
  readonly changes: readonly { readonly path: string; readonly after: Buffer | null; readonly mode?: number }[];
}

/** `reason`: a sentence that says why nothing could be written. */
export type ResultOrReason<T> = { readonly result: T } | { readonly reason: string };

/** The only writer of skills and their history. */
export class Writer {
  readonly dataDir: string;
  readonly #options: WriterOptions;
  readonly #lock: WriteLock;
  readonly #history: HistoryFile;
  #unfinished: readonly Unfinished[] = [];
  #behind: readonly Problem[] = [];

  constructor(options: WriterOptions) {
    const { dataDir, mayRecover } = options;
    this.dataDir = dataDir;
    this.#options = options;
    this.#lock = createWriteLock(join(dataDir, 'write.lock'));
    this.#history = createHistoryFile(join(dataDir, 'history.db'), !mayRecover);
  }

  /** ISO 8601, UTC. */
  now(): string {
    return new Date().toISOString();
  }

  /** For reading only. @throws as `HistoryFile.reading`. */
  database(): SqliteDatabase {
    return this.#history.reading();
  }

  /** First undoes unfinished changes, afterwards writes reports: a failure of either goes to `problems`. */
  async exclusively<T>(use: (database: SqliteDatabase, dataDir: string) => T): Promise<T> {
    this.#history.assertOpen();
    return this.#lock.run(() => this.#guarded(use));
  }

  /** Returns undefined at once when another process is writing. */
  ifFree<T>(use: (database: SqliteDatabase) => T): T | undefined {
    this.#history.assertOpen();
    return this.#lock.tryRun(() => this.#guarded(use));
  }

  /** For a write that reading can do without: where it is not allowed or fails, returns the reason. */
  async ifPossible<T>(use: (database: SqliteDatabase) => T): Promise<ResultOrReason<T>> {
    if (!this.#options.mayRecover) return { reason: NOT_APPROVED };
    try {
      return { result: await this.exclusively(use) };
    } catch (error) {
      const explained = this.explain(error);
      if (isCodedError(explained, 'WRITE_FAILED') || isCodedError(explained, 'STORE_UNAVAILABLE'))
        return { reason: explained.message };
      throw explained;
    }
  }

  hasHistory(): boolean {
    return this.#history.exists();
  }

  hasUnfinished(): boolean {
    return this.#history.exists() && hasUnfinished(this.#history.reading());
  }

  /** Of the last write: CHANGE_UNFINISHED, HISTORY_ROW_REFUSED; of reports WRITE_FAILED, PROPOSAL_FILE_EDITED. */
  problems(): readonly Problem[] {
    const unfinished = this.#unfinished.filter(({ state }) => state !== 'waiting');
    return [...unfinished.map((change) => problemOf(change, this.#history.path)), ...this.#behind];
  }

  /** Call it inside `exclusively`. @throws CHANGE_UNFINISHED when an earlier change must still be undone. */
  assertFinished(key: string): void {
    // No registry began a refused change: nothing must be undone.
    const unfinished = this.#unfinished.find(
      (change) => change.key === key && change.state !== 'settle' && !isCodedError(change.error, 'HISTORY_ROW_REFUSED'),
    );
    if (unfinished) throw changeUnfinished(unfinished);
  }

  /** Call it inside `exclusively`. @returns the skill's files; none without a folder. */
  record(location: SkillLocation): Revision['files'] {
    const read = () => readFolderTree(folderOf(location), this.#options.maxBytes);
    const tree = unlessCoded(read, undefined, 'RESOURCE_NOT_FOUND');
    if (!tree) return [];
    recordPresent(this.#history.reading(), location, tree, this.now());
    return tree.files;
  }

  /** Call it inside `exclusively`. @throws as `runOperation` and `assertFinished`; WRITE_DENIED for code. */
  apply(planned: PlannedChange): Revision {
    this.assertFinished(planned.location.key);
    assertNoCodeOfAgents(planned, this.#options.isCode);
    const before = this.record(planned.location);
    const database = this.#history.reading();
    const changes = inSafeOrder(planned.changes).map(({ path, after, mode }): FileChange => {
      const file = before.find((candidate) => candidate.path === path);
      return {
        path,
        before: file ? keptDigest(database, planned.location, file) : null,
        after: after === null ? null : putBlob(database, after),
        mode,
        modeBefore: file?.mode,
      };
    });
    const id = randomBytes(6).toString('hex');
    return runOperation({ ...planned, id, at: this.now(), changes }, this.#operationContext(database));
  }

  /** Turns a database error into a `CodedError`; other errors stay as they are. */
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
      const context = this.#operationContext(database);
      const { locationOf, mayRecover } = this.#options;
      this.#unfinished = mayRecover ? [] : unfinishedIn(database);
      if (mayRecover) {
        recoverOperations(context, locationOf);
        this.#catchUp(context);
      }
      const result = use(database, context.dataDir);
      this.#catchUp(context);
      return result;
    });
  }

  #catchUp({ database, dataDir }: OperationContext): void {
    this.#behind = this.#options.catchUp(database, dataDir, this.now(), this.#options.onStep);
  }

  #operationContext(database: SqliteDatabase): OperationContext {
    makeStoreFolder(this.dataDir);
    return {
      ...this.#options,
      database,
      dataDir: realpathSync(this.dataDir),
      onUnfinished: (change) => {
        this.#unfinished = [...this.#unfinished, change];
      },
    };
  }
}

export function isPerson(by: string): boolean {
  return by.startsWith('person:');
}

/** Without case, white space and invisible characters. */
export function nameKey(by: string): string {
  return foldLine(by.normalize('NFKC')).replaceAll(' ', '').toLowerCase();
}

// --- internal ---

const NOT_APPROVED =
  'Nobody has approved this root, so no history is written. `skill-registry approvals allow` in it approves it.';

/** On file systems that ignore letter case, skill.md must go before SKILL.md is written. */
function inSafeOrder(changes: PlannedChange['changes']): PlannedChange['changes'] {
  const written = new Set(changes.flatMap(({ path, after }) => (after === null ? [] : [path.toLowerCase()])));
  const isFirst = ({ path, after }: PlannedChange['changes'][number]): boolean =>
    after === null && written.has(path.toLowerCase());
  return [...changes.filter(isFirst), ...changes.filter((change) => !isFirst(change))];
}

/** No agent changes code, even where `writes` is `allow` or an agent may review. @throws WRITE_DENIED. */
function assertNoCodeOfAgents({ location, changes, by }: PlannedChange, isCode: WriterOptions['isCode']): void {
  if (isPerson(by)) return;
  const paths = [folderOf(location), ...changes.map(({ path }) => join(folderOf(location), path))];
  if (!paths.some(isCode)) return;
  const message = `"${location.skillId}", or the file in it, is code (below extensions/, behind a link from there, or in a package that is a source). Only a person may change code. Propose the change, and tell the user.`;
  throw new CodedError('WRITE_DENIED', message, { skill_id: location.skillId });
}

/** Keeps even an old content too large for a revision: without it the change could not be undone. */
function keptDigest(database: SqliteDatabase, location: SkillLocation, { path, digest, kept }: RevisionFile): string {
  if (kept) return digest;
  return putBlob(database, readContained(location.base, pathInSource(location, path), Number.MAX_SAFE_INTEGER));
}

function problemOf(change: Unfinished, file: string): Problem {
  const { code, message } = isCodedError(change.error, 'HISTORY_ROW_REFUSED') ? change.error : changeUnfinished(change);
  return { code, severity: change.state === 'settle' ? 'warning' : 'error', file, message };
}
