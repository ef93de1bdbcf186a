import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { assertDataInRoot } from '../../../../../kernel/host.ts';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { registryClosed } from '../../../core/skill/errors.ts';
import { assertNoLinkLeadsOut, fileIdentity, type SqliteDatabase } from '../../../core/store/open-database.ts';
import { historyRefused } from '../errors.ts';
import { assertSound, historyError, openHistoryDatabase, sqliteRefusal } from './history-database.ts';

/** The process's open `history.db`. Other processes may remove or replace the file at any time. */
export interface HistoryFile {
  /** Absolute. */
  readonly path: string;
  exists(): boolean;
  /** @throws REGISTRY_CLOSED; PATH_TRAVERSAL if `leaveAlone` is set and the file lies outside its root. */
  assertOpen(): void;
  /** For reading; a copy where the file cannot or must not be opened for writing. @throws as `openHistoryDatabase`. */
  reading(): SqliteDatabase;
  /** The database stays the same while `use` runs. @throws as `assertSound`, and what `use` throws. */
  writing<T>(use: (database: SqliteDatabase) => T): T;
  close(): void;
}

/** @param leaveAlone - Read a copy, so that SQLite writes no file next to it. */
export function createHistoryFile(path: string, leaveAlone: boolean): HistoryFile {
  let opened: Opened | undefined;
  let copied: Opened | undefined;
  let sound: SqliteDatabase | undefined;
  let closed = false;
  let isHeld = false;
  const drop = (database: Opened | undefined): undefined => {
    database?.database.close();
    if (database && database === opened) countOpen(database.identity, -1);
  };
  const assertOpen = (): void => {
    if (closed) throw registryClosed();
    if (leaveAlone) assertDataInRoot(dirname(dirname(dirname(path))));
  };
  const dropStale = (): void => {
    assertOpen();
    if (opened && !isHeld && fileIdentity(path) !== opened.identity) opened = drop(opened);
  };
  const open = (): Opened => {
    if (!opened) {
      opened = { database: openHistoryDatabase(path), identity: fileIdentity(path) };
      countOpen(opened.identity, 1);
    }
    copied = drop(copied);
    return opened;
  };
  const copy = (): SqliteDatabase => {
    if (openHere.has(fileIdentity(path))) return open().database;
    assertNoLinkLeadsOut(path);
    const identity = stampOf(path);
    if (copied && copied.identity !== identity) copied = drop(copied);
    copied ??= { database: openCopy(path), identity };
    return copied.database;
  };
  return {
    path,
    exists: () => existsSync(path),
    assertOpen,
    reading() {
      dropStale();
      if (opened) return opened.database;
      if (copied || leaveAlone) return copy();
      try {
        return open().database;
      } catch (error) {
        const mayBeReadable = isCodedError(error, 'WRITE_FAILED') || isCodedError(error, 'STORE_UNAVAILABLE');
        const readable = mayBeReadable ? withFallback(copy) : undefined;
        if (readable) return readable;
        throw error;
      }
    },
    writing(use) {
      dropStale();
      const { database } = open();
      isHeld = true;
      try {
        if (sound !== database) assertSound(database, path);
        sound = database;
        return use(database);
      } catch (error) {
        // The next use opens it again: this user may have write permission by then.
        if (sqliteRefusal(error) === 'readonly') opened = drop(opened);
        throw error;
      } finally {
        isHeld = false;
      }
    },
    close() {
      closed = true;
      opened = drop(opened);
      copied = drop(copied);
    },
  };
}

// --- internal ---

/**
 * Open histories of this process, by identity. Closing a plain file descriptor releases all locks of the process on
 * that file, also those of SQLite: an open history must not be read as a plain file.
 */
const openHere = new Map<string, number>();

function countOpen(identity: string, change: 1 | -1): void {
  const count = (openHere.get(identity) ?? 0) + change;
  if (count > 0) openHere.set(identity, count);
  else openHere.delete(identity);
}

interface Opened {
  readonly database: SqliteDatabase;
  /** Of the file, or the stamp of the copied files. */
  readonly identity: string;
}

const PARTS = ['', '-wal'];
const COPY_ATTEMPTS = 20;

/** Opens a copy in a temporary folder that is removed at once. @throws as `openHistoryDatabase`. */
function openCopy(file: string): SqliteDatabase {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'skill-registry-history-'));
    const copy = join(folder, 'history.db');
    copyAtRest(file, copy);
    const database = openHistoryDatabase(copy, undefined, file);
    // Without a write-ahead log it is one file, which stays open after its name is removed.
    database.exec('PRAGMA journal_mode = DELETE; PRAGMA query_only = ON');
    return database;
  } catch (error) {
    throw historyError(file, error, file);
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** Tries again when another process changes one of the files meanwhile. */
function copyAtRest(file: string, copy: string): void {
  for (let attempt = 0; attempt < COPY_ATTEMPTS; attempt++) {
    const before = stampOf(file);
    for (const part of PARTS) {
      rmSync(copy + part, { force: true });
      if (existsSync(file + part)) copyFileSync(file + part, copy + part);
    }
    if (stampOf(file) === before) return;
  }
  throw historyRefused('busy', file, undefined);
}

/** Changes with every write into the history. @throws when something of that name is no file. */
function stampOf(file: string): string {
  const stamps = PARTS.map((part) => {
    const stats = statSync(file + part, { throwIfNoEntry: false, bigint: true });
    if (stats && !stats.isFile()) throw new Error(`${file}${part} is no file`);
    return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs}` : '';
  });
  return stamps.join();
}
