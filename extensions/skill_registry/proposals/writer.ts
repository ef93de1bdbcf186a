import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isCodedError, privateFolder, readContained } from 'skill-registry/kernel';
import { registryClosed } from '../errors.ts';
import { assertSound, hasUnfinished, openHistoryDatabase } from '../history-database.ts';
import { fileIdentity, type SqliteDatabase } from '../open-database.ts';
import { putBlob } from './blobs.ts';
import { historyUnusable } from './errors.ts';
import { type FileChange, type Operation, type OperationStep, recoverOperations, runOperation } from './operations.ts';
import { folderOf, type Place, pathIn } from './places.ts';
import type { FileStep } from './proposal-files.ts';
import { flushDueFiles } from './proposal-files.ts';
import { addEvent, updateProposal } from './proposal-store.ts';
import { addRevision, lastRevision } from './revisions.ts';
import { readFolderTree, type SkillTree } from './skill-tree.ts';
import type { Revision, RevisionFile } from './types.ts';
import { createWriteLock } from './write-lock.ts';

/** Moments between which a process may die; a test kills one at each. */
export type WriteStep = 'locked' | 'row' | OperationStep | FileStep;

export interface WriterOptions {
  /** `<root>/data/skill_registry`; made when something is written. */
  readonly dataDir: string;
  /** Larger files are not kept. */
  readonly maxBytes: number;
  readonly now?: () => Date;
  readonly onStep?: (step: WriteStep) => void;
}

/** A change of one skill before it is one: contents instead of digests. */
export interface Draft {
  readonly place: Place;
  readonly changes: readonly { readonly path: string; readonly after: Buffer | null; readonly mode?: number }[];
  readonly move?: Operation['move'];
  readonly kind: Operation['kind'];
  readonly by: string;
  readonly reason?: string | undefined;
  readonly proposal?: string | undefined;
  readonly target?: number | undefined;
}

/** The one place where skills, proposals and their history are written. */
export interface Writer {
  readonly dataDir: string;
  /** ISO 8601, UTC. */
  now(): string;
  /** For reading. @throws HISTORY_DAMAGED, HISTORY_NEWER. */
  database(): SqliteDatabase;
  /**
   * Runs `use` as the only writer of all processes. What a crash has left is ended before, and proposal files that are due
   * are written after. `use` is also given the real path of the data folder.
   */
  exclusively<T>(use: (database: SqliteDatabase, dataDir: string) => T): Promise<T>;
  /** As `exclusively`, unless somebody else is writing: then undefined. */
  ifFree<T>(use: (database: SqliteDatabase) => T): T | undefined;
  /** Whether somebody has written here before. */
  hasHistory(): boolean;
  /** Whether a process has died in the middle of a change, or its proposal's file is still to be written. */
  hasUnfinished(): boolean;
  /** Puts what a skill is now into the history, inside `exclusively`. */
  note(place: Place): void;
  /** Changes a skill, inside `exclusively`. */
  apply(draft: Draft): Revision;
  step(step: WriteStep): void;
  close(): void;
}

export function createWriter(options: WriterOptions): Writer {
  const { maxBytes, now = () => new Date(), onStep = () => {} } = options;
  const lock = createWriteLock(join(options.dataDir, 'write.lock'));
  let opened: SqliteDatabase | undefined;
  let closed = false;
  let isSound = false;
  let identity = '';
  /** In the middle of a change the history stays the one it began with. */
  let isChanging = false;
  const file = join(options.dataDir, 'history.db');
  const database = (): SqliteDatabase => {
    if (closed) throw registryClosed();
    if (opened && !isChanging && fileIdentity(file) !== identity) {
      opened.close();
      opened = undefined;
    }
    if (!opened) {
      opened = openHistoryDatabase(file);
      identity = fileIdentity(file);
      isSound = false;
    }
    return opened;
  };
  const realDataDir = (): string => {
    privateFolder(options.dataDir);
    return realpathSync(options.dataDir);
  };
  const surroundings = () => ({
    database: database(),
    dataDir: realDataDir(),
    maxBytes,
    onStep,
    onCommit: (operation: Operation, revision: Revision) => commitProposal(database(), operation, revision),
  });
  const guarded = <T>(use: (database: SqliteDatabase, dataDir: string) => T): T => {
    onStep('locked');
    try {
      const present = database();
      isChanging = true;
      if (!isSound) assertSound(present, file);
      isSound = true;
      const context = surroundings();
      recoverOperations(context);
      flushDueFiles(context.database, context.dataDir, onStep, writer.now());
      const result = use(context.database, context.dataDir);
      flushDueFiles(context.database, context.dataDir, onStep, writer.now());
      return result;
    } catch (error) {
      throw isOfDatabase(error) ? historyUnusable(file, error) : error;
    } finally {
      isChanging = false;
    }
  };
  const writer: Writer = {
    dataDir: options.dataDir,
    now: () => now().toISOString(),
    database,
    async exclusively(use) {
      database();
      return lock.run(() => guarded(use));
    },
    ifFree(use) {
      database();
      return lock.tryRun(() => guarded(use));
    },
    hasHistory: () => existsSync(file),
    hasUnfinished: () => writer.hasHistory() && hasUnfinished(database()),
    note: (place) => void recordBefore(database(), place, maxBytes, writer.now()),
    apply(draft) {
      const { changes, ...rest } = draft;
      const at = writer.now();
      const before = recordBefore(database(), draft.place, maxBytes, at);
      const operation: Operation = {
        ...rest,
        id: randomBytes(6).toString('hex'),
        at,
        changes: changes.map(({ path, after, mode }): FileChange => {
          const file = before.find((one) => one.path === path);
          return {
            path,
            before: file ? keptDigest(database(), draft.place, file) : null,
            after: after === null ? null : putBlob(database(), after),
            ...(mode === undefined ? {} : { mode }),
            ...(file ? { modeBefore: file.mode } : {}),
          };
        }),
      };
      return runOperation(operation, surroundings());
    },
    step: onStep,
    close() {
      closed = true;
      lock.close();
      opened?.close();
      opened = undefined;
    },
  };
  return writer;
}

// --- internal ---

/** What is about to change is in the history first, whoever made it what it is. */
function recordBefore(database: SqliteDatabase, place: Place, maxBytes: number, at: string): Revision['files'] {
  let tree: SkillTree;
  try {
    tree = readFolderTree(folderOf(place), maxBytes);
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_NOT_FOUND')) return [];
    throw error;
  }
  const kind = lastRevision(database, place.key) ? 'edited' : 'seen';
  database
    .transaction(() => addRevision(database, place.key, place.skillId, tree, { kind, by: 'unknown', at }))
    .immediate();
  return tree.files;
}

/** What is too large for a revision is kept all the same when it is changed: else the change could not be undone. */
function keptDigest(database: SqliteDatabase, place: Place, { path, digest, kept }: RevisionFile): string {
  if (kept) return digest;
  return putBlob(database, readContained(place.base, pathIn(place, path), Number.MAX_SAFE_INTEGER));
}

/** The decision and its revision are one transaction. */
function commitProposal(
  database: SqliteDatabase,
  { proposal, by, at, reason, move, place }: Operation,
  { number }: Revision,
): void {
  if (move?.direction === 'out') {
    database
      .prepare('INSERT INTO archived (skill_id, place, folder, at, by) VALUES (?, ?, ?, ?, ?)')
      .run(place.skillId, place.key, move.folder, at, by);
  }
  if (move?.direction === 'back') {
    database.prepare('UPDATE archived SET restored_at = ? WHERE folder = ?').run(at, move.folder);
  }
  if (proposal === undefined) return;
  const decision = { state: 'approved', decided_by: by, decided_at: at, decision_reason: reason ?? null } as const;
  updateProposal(database, proposal, { ...decision, conflict: null, revision: number });
  addEvent(database, proposal, 'approved', { by, at }, { revision: number });
}

/** A broken constraint is a mistake of ours, and is not dressed up. */
function isOfDatabase(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return /^SQLITE_(CORRUPT|NOTADB|BUSY|LOCKED|READONLY|CANTOPEN|FULL|IOERR)/.test(String(code));
}
