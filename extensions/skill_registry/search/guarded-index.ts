import type { SqliteDatabase } from '../open-database.ts';
import { createTextIndex, type TextIndex } from './text-index.ts';

/** The index, and one in memory instead of it from the moment its file fails. */
export interface GuardedIndex {
  /** Runs `work`, a second time on the other index when the file failed under it. */
  use<T>(work: (index: TextIndex) => T): T;
  close(): void;
}

/**
 * @param open - Opens the database on first use.
 * @param spare - Opens one in memory with the same tables.
 */
export function createGuardedIndex(open: () => SqliteDatabase, spare: () => SqliteDatabase): GuardedIndex {
  const opened: SqliteDatabase[] = [];
  let index: TextIndex | undefined;
  let spared = false;
  const indexIn = (database: SqliteDatabase): TextIndex => {
    opened.push(database);
    return createTextIndex(database);
  };
  const current = (): TextIndex => {
    index ??= indexIn(open());
    return index;
  };
  return {
    use(work) {
      try {
        return work(current());
      } catch (error) {
        if (spared || !isSqliteError(error)) throw error;
        // Damaged, full, or held by somebody for seconds: a cache is no reason to find nothing.
        spared = true;
        index = indexIn(spare());
        return work(index);
      }
    },
    close() {
      for (const database of opened) database.close();
    },
  };
}

// --- internal ---

function isSqliteError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_');
}
