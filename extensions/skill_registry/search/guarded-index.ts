import type { SqliteDatabase } from '../open-database.ts';
import { createTextIndex, type TextIndex } from './text-index.ts';

/** The index, and one in memory instead of it from the moment its file fails. */
export interface GuardedIndex {
  /** Runs `work`, a second time on the other index when the file failed under it. */
  use<T>(work: (index: TextIndex) => T): T;
}

/** @param spare - Opens a database in memory with the same tables. */
export function createGuardedIndex(database: SqliteDatabase, spare: () => SqliteDatabase): GuardedIndex {
  let index: TextIndex | undefined;
  let spared = false;
  const current = (): TextIndex => {
    index ??= createTextIndex(database);
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
        index = createTextIndex(spare());
        return work(index);
      }
    },
  };
}

// --- internal ---

function isSqliteError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_');
}
