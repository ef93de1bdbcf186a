import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isCodedError } from 'skill-registry/kernel';
import { assertDataInRoot } from '../../../kernel/host.ts';
import { registryClosed } from '../skill/errors.ts';
import { assertInPlace, fileIdentity, type SqliteDatabase } from '../store/open-database.ts';
import { historyRefused } from './errors.ts';
import { assertSound, historyError, openHistoryDatabase, sqliteRefusal } from './history-database.ts';

/** `history.db` as one process has it open, whoever removes or replaces it meanwhile. */
export interface HistoryFile {
  /** Absolute. */
  readonly path: string;
  exists(): boolean;
  /** @throws REGISTRY_CLOSED; PATH_TRAVERSAL when it is to be left alone and lies outside of its root. */
  assertOpen(): void;
  /** For reading only. Where it cannot be opened for writing, or is not to be, a copy. @throws as `openHistoryDatabase`. */
  reading(): SqliteDatabase;
  /** For writing: as long as `use` runs it stays the same one. @throws as `assertSound`, what `use` throws. */
  writing<T>(use: (database: SqliteDatabase) => T): T;
  close(): void;
}

/** @param path - `<root>/data/skill_registry/history.db`. @param leaveAlone - Reading opens a copy, so that nothing is written beside the file. */
export function createHistoryFile(path: string, leaveAlone: boolean): HistoryFile {
  let opened: Opened | undefined;
  let copied: Opened | undefined;
  /** The one that was looked through. */
  let sound: SqliteDatabase | undefined;
  let closed = false;
  let isHeld = false;
  const drop = (one: Opened | undefined): undefined => {
    one?.database.close();
    if (one && one === opened) note(one.identity, -1);
  };
  const assertOpen = (): void => {
    if (closed) throw registryClosed();
    if (leaveAlone) assertDataInRoot(dirname(dirname(dirname(path))));
  };
  /** Somebody may have removed or replaced it. */
  const dropStale = (): void => {
    assertOpen();
    if (opened && !isHeld && fileIdentity(path) !== opened.identity) opened = drop(opened);
  };
  const open = (): Opened => {
    if (!opened) {
      opened = { database: openHistoryDatabase(path), identity: fileIdentity(path) };
      note(opened.identity, 1);
    }
    copied = drop(copied);
    return opened;
  };
  /** Made anew when the file has changed since. */
  const copy = (): SqliteDatabase => {
    if (openHere.has(fileIdentity(path))) return open().database;
    assertInPlace(path);
    const identity = stampOf(path);
    if (copied && copied.identity !== identity) copied = drop(copied);
    copied ??= { database: openCopy(path), identity };
    return copied.database;
  };
  const copyIfReadable = (): SqliteDatabase | undefined => {
    try {
      return copy();
    } catch {
      return undefined;
    }
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
        const readable = mayBeReadable ? copyIfReadable() : undefined;
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
        // Whoever is given the right to write there need not start anew.
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
 * Histories that this process has open, by identity, and how often. To close a file that was read gives up all locks that the
 * process has on it, those of SQLite as well: so none of them is ever read as a file.
 */
const openHere = new Map<string, number>();

function note(identity: string, change: 1 | -1): void {
  const count = (openHere.get(identity) ?? 0) + change;
  if (count > 0) openHere.set(identity, count);
  else openHere.delete(identity);
}

interface Opened {
  readonly database: SqliteDatabase;
  /** Of the file, or of what was copied. */
  readonly identity: string;
}

/** The database, and what was written since it was put in order last. */
const PARTS = ['', '-wal'];
const COPY_ATTEMPTS = 20;

/**
 * A copy of the history, in no folder of anybody: for where nothing can or may be written beside it. It stays as it was when it
 * was made.
 *
 * @throws as `openHistoryDatabase`.
 */
function openCopy(file: string): SqliteDatabase {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'skill-registry-history-'));
    const copy = join(folder, 'history.db');
    copyAtRest(file, copy);
    const database = openHistoryDatabase(copy, undefined, file);
    // From here on it is one file, and what is open needs no name.
    database.exec('PRAGMA journal_mode = DELETE; PRAGMA query_only = ON');
    return database;
  } catch (error) {
    throw historyError(file, error, file);
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** With the changes that are still in the file beside it, at a moment when nobody changes either. */
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

/** Changes whenever somebody writes into the history. @throws for what is there and no file. */
function stampOf(file: string): string {
  const stamps = PARTS.map((part) => {
    const stats = statSync(file + part, { throwIfNoEntry: false, bigint: true });
    if (stats && !stats.isFile()) throw new Error(`${file}${part} is no file`);
    return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs}` : '';
  });
  return stamps.join();
}
