import type { KeptQuery } from '../../core/events.ts';
import type { SqliteDatabase } from '../../core/store/open-database.ts';
import type { Fit, UsageRow } from './recorder.ts';
import { DAY_MS, KEPT_DAYS } from './since.ts';
import type { MissedSkill } from './types.ts';

/** Fits of which no load in their conversation is known: a load removes those of its skill. */
export interface FitTable {
  add(fit: Fit): void;
  loaded(row: UsageRow): void;
  /** @param where - Ends with AND. Most often first, at most 200. */
  missed(where: string, values: readonly string[], from: number): readonly MissedSkill[];
  /** Of one skill together, the newest first. */
  queries(now: number): readonly KeptQuery[];
  forget(query: KeptQuery): void;
  everything(): readonly Fit[];
  /** @param queryDays - Keeps what was asked for so long. */
  removeOld(now: number, most: number, queryDays: number): void;
}

/** For what was asked. */
export const QUERY_DAYS = 30;

export const FIT_TABLE = `
DROP TABLE IF EXISTS fit;
CREATE TABLE fit (
  id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, skill TEXT NOT NULL, agent TEXT, thread TEXT NOT NULL,
  words TEXT NOT NULL, query TEXT
) STRICT;
CREATE INDEX fit_thread ON fit (thread, skill);`;

export function createFitTable(database: SqliteDatabase): FitTable {
  // The load may have been written before.
  const insert = database.prepare(`INSERT INTO fit (time, skill, agent, thread, words, query) SELECT ?, ?, ?, ?, ?, ?
    WHERE NOT EXISTS (SELECT 1 FROM event WHERE thread = ? AND agent IS ? AND skill = ? AND kind IN ('load', 'resource'))`);
  const remove = database.prepare('DELETE FROM fit WHERE thread = ? AND agent IS ? AND skill = ?');
  return {
    add({ time, skill, agent, thread, words, query }) {
      insert.run(time, skill, agent, thread, words, query, thread, agent, skill);
    },
    loaded({ kind, thread, agent, skill }) {
      if (thread !== null && (kind === 'load' || kind === 'resource')) remove.run(thread, agent, skill);
    },
    missed: (where, values, from) =>
      database
        .prepare<Omit<MissedSkill, 'words' | 'last'> & { readonly words: string; readonly last: number }>(
          `SELECT skill AS skillId, count(*) AS times, count(DISTINCT ifnull(agent, '') || char(10) || thread) AS threads,
             max(time) AS last, group_concat(words, ' ') AS words
           FROM fit WHERE${where} time >= ? GROUP BY skill ORDER BY times DESC, skill LIMIT 200`,
        )
        .all(...values, from)
        .map(({ words, last, ...one }) => ({ ...one, last: new Date(last).toISOString(), words: mostOften(words) })),
    queries: (now) =>
      database
        .prepare<KeptQuery>(
          `SELECT skill AS skillId, query FROM fit WHERE query IS NOT NULL AND time >= ?
           GROUP BY skill, query ORDER BY skill, max(time) DESC`,
        )
        .all(now - QUERY_DAYS * DAY_MS)
        .map((row) => ({ ...row })),
    forget: ({ skillId, query }) =>
      void database.prepare('UPDATE fit SET query = NULL WHERE skill = ? AND query = ?').run(skillId, query),
    everything: () => database.prepare<Fit>('SELECT * FROM fit').all(),
    removeOld(now, most, queryDays) {
      database
        .prepare('UPDATE fit SET query = NULL WHERE query IS NOT NULL AND time < ?')
        .run(now - queryDays * DAY_MS);
      database
        .prepare('DELETE FROM fit WHERE time < ? OR id <= (SELECT max(id) FROM fit) - ?')
        .run(now - KEPT_DAYS * DAY_MS, most);
      // Else the log still has what was removed from the pages.
      database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    },
  };
}

// --- internal ---

const WORDS_SHOWN = 10;

function mostOften(words: string): readonly string[] {
  const counts = new Map<string, number>();
  for (const word of words.split(' ')) counts.set(word, (counts.get(word) ?? 0) + 1);
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  return sorted.slice(0, WORDS_SHOWN).map(([word]) => word);
}
