import { existsSync } from 'node:fs';
import { isCodedError } from 'skill-registry/kernel';
import { registryClosed } from '../errors.ts';
import { assertSound, historyStamp, openHistoryCopy, openHistoryDatabase } from '../history-database.ts';
import { fileIdentity, type SqliteDatabase } from '../open-database.ts';

/** `history.db` as one process has it open, whoever removes or replaces it meanwhile. */
export interface HistoryFile {
  /** Absolute. */
  readonly path: string;
  exists(): boolean;
  /** @throws REGISTRY_CLOSED. */
  assertOpen(): void;
  /** For reading only. Where it cannot be opened for writing, or is not to be, a copy. @throws as `openHistoryDatabase`. */
  reading(): SqliteDatabase;
  /** For writing: as long as `use` runs it stays the same one. @throws as `assertSound`, what `use` throws. */
  writing<T>(use: (database: SqliteDatabase) => T): T;
  close(): void;
}

/** @param leaveAlone - Reading opens a copy, so that nothing is written beside the file. */
export function createHistoryFile(path: string, leaveAlone: boolean): HistoryFile {
  let opened: Opened | undefined;
  let copied: Opened | undefined;
  /** The one that was looked through. */
  let sound: SqliteDatabase | undefined;
  let closed = false;
  let isHeld = false;
  const drop = (one: Opened | undefined): undefined => void one?.database.close();
  const assertOpen = (): void => {
    if (closed) throw registryClosed();
  };
  /** Somebody may have removed or replaced it. */
  const dropStale = (): void => {
    assertOpen();
    if (opened && !isHeld && fileIdentity(path) !== opened.identity) opened = drop(opened);
  };
  const open = (): Opened => {
    opened ??= { database: openHistoryDatabase(path), identity: fileIdentity(path) };
    copied = drop(copied);
    return opened;
  };
  /** Made anew when the file has changed since. */
  const copy = (): SqliteDatabase => {
    const identity = historyStamp(path);
    if (copied && copied.identity !== identity) copied = drop(copied);
    copied ??= { database: openHistoryCopy(path), identity };
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

interface Opened {
  readonly database: SqliteDatabase;
  /** Of the file, or of what was copied. */
  readonly identity: string;
}
