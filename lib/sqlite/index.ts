import { loadEngine, type SqliteDatabase } from './engines.ts';
import { SqliteUnavailable } from './failure.ts';

export type { SqliteDatabase } from './engines.ts';
export { sqliteFailure } from './failure.ts';

/**
 * Opens a SQLite file; it is made where there is none.
 *
 * @param file - Absolute, in a folder that exists; or `:memory:`.
 * @param busyMs - How long a statement waits for another process, in milliseconds; 0: not at all. Default: 5,000.
 * @throws `sqliteFailure`: `unavailable`, `cantopen`. What is in the file is looked at by the first statement.
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
        rollBack(engine);
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

/** Why no database can be opened here, in one line with the remedy; undefined when one can. The answer never changes. */
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

/** Statements take milliseconds. */
const BUSY_MS = 5_000;

/** After some errors (a full disk) SQLite has done it already, and says that there is nothing to roll back. */
function rollBack(engine: { exec(sql: string): unknown }): void {
  try {
    engine.exec('ROLLBACK');
  } catch {
    // The error before this one is the one to tell.
  }
}
