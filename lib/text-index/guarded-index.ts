import { type SqliteDatabase, sqliteFailure } from '../sqlite/index.ts';
import { createMemoryIndex } from './memory-index.ts';
import { createTextIndex, type TextIndex } from './text-index.ts';

/** The index, and one in memory instead of it where no database can be opened, and from the moment its file fails. */
export interface GuardedIndex {
  /** Runs `work`, a second time on the other index when the file failed under it. */
  use<T>(work: (index: TextIndex) => T): T;
  close(): void;
}

/** @param open - Opens the database on first use. */
export function createGuardedIndex(open: () => SqliteDatabase): GuardedIndex {
  let database: SqliteDatabase | undefined;
  let index: TextIndex | undefined;
  let spared = false;
  const current = (): TextIndex => {
    if (!index) {
      database = open();
      index = createTextIndex(database);
    }
    return index;
  };
  return {
    use(work) {
      try {
        return work(current());
      } catch (error) {
        if (spared || sqliteFailure(error) === undefined) throw error;
        // Damaged, full, held by somebody for seconds, or there is no SQLite: a cache is no reason to find nothing.
        spared = true;
        index = createMemoryIndex();
        return work(index);
      }
    },
    close: () => database?.close(),
  };
}
