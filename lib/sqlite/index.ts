import { withFallback } from '../errors/index.ts';
import { loadEngine, type SqliteDatabase } from './engines.ts';
import { SqliteUnavailable } from './failure.ts';

export type { SqliteDatabase, SqliteStatement } from './engines.ts';
export { SqliteRowsDamaged, sqliteFailure } from './failure.ts';

/**
 * @param file - Absolute, made when missing, in an existing folder; or `:memory:`.
 * @param busyMs - How long a statement waits for a lock, in milliseconds; 0: not at all. Default: 5,000.
 * @throws `sqliteFailure`: `unavailable`, `cantopen`. A damaged file is only noticed by the first statement.
 */
export function openSqlite(file: string, busyMs: number = BUSY_MS): SqliteDatabase {
  const engine = loadEngine()(file);
  engine.exec(`PRAGMA busy_timeout = ${busyMs}`);
  let isOpen = true;
  return {
    memory: file === ':memory:',
    exec: (sql) => void engine.exec(sql),
    prepare: (sql) => engine.prepare(sql),
    transaction(work, kind = 'immediate') {
      engine.exec(kind === 'immediate' ? 'BEGIN IMMEDIATE' : 'BEGIN');
      try {
        const result = work();
        engine.exec('COMMIT');
        return result;
      } catch (error) {
        // After some errors (a full disk) SQLite has already rolled back, and ROLLBACK fails.
        withFallback(() => engine.exec('ROLLBACK'));
        throw error;
      }
    },
    loadExtension: (path) => engine.loadExtension(path),
    close() {
      if (!isOpen) return;
      engine.close();
      isOpen = false;
    },
  };
}

/** One line with the remedy; undefined: a database can be opened. Constant within a process. */
export function whyNoSqlite(): string | undefined {
  try {
    loadEngine();
    return undefined;
  } catch (error) {
    if (error instanceof SqliteUnavailable) return error.message;
    throw error;
  }
}

// --- internal ---

const BUSY_MS = 5_000;
