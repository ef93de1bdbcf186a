import type { SqliteDatabase } from '../../core/store/open-database.ts';
import { DAY_MS, dayOf, KEPT_DAYS } from './since.ts';

/** One body or file that an agent was handed over. Names as recorded; empty: without a name. */
export interface Charge {
  readonly at: number;
  readonly agent: string;
  readonly thread: string;
  readonly skill: string;
  /** Empty: the body. */
  readonly path: string;
  /** Of SKILL.md; null: not read. */
  readonly digest: string | null;
  readonly tokens: number;
}

/** In tokens, with what was handed over last: of the conversation, and of the day of its agent. */
export interface Spent {
  readonly thread: number;
  readonly day: number;
}

export interface ThreadTokens {
  readonly agent: string;
  readonly thread: string;
  readonly tokens: number;
  readonly last: number;
}

/** Never removed by events. */
export interface Ledger {
  /** What a conversation has. @returns whether the charge names one. */
  hand(charge: Charge): boolean;
  /** As `hand`, with the day of the agent, whose tokens it returns. In a transaction of the caller. */
  add(charge: Charge): number;
  tokensOf(agent: string, thread: string): number;
  /** A body that this conversation still has, in milliseconds since 1970. */
  givenAt(of: Pick<Charge, 'agent' | 'thread' | 'skill' | 'digest'>): number | undefined;
  /** Of one agent's conversation, in the order in which they were first handed over. */
  loaded(agent: string, thread: string): readonly Charge[];
  /** The conversation was cut: what it had may be given again. Its tokens stay. */
  empty(agent: string, thread: string): void;
  /** The last used first, at most 50. */
  threads(where: string, values: readonly string[], from: number): readonly ThreadTokens[];
  everything(): readonly Charge[];
  removeOld(now: number): void;
}

export const LEDGER_TABLES = `
DROP TABLE IF EXISTS handed; DROP TABLE IF EXISTS agent_day;
CREATE TABLE handed (
  agent TEXT NOT NULL, thread TEXT NOT NULL, skill TEXT NOT NULL, path TEXT NOT NULL, digest TEXT, first INTEGER NOT NULL,
  at INTEGER NOT NULL, tokens INTEGER NOT NULL, present INTEGER NOT NULL, PRIMARY KEY (agent, thread, skill, path)
) STRICT, WITHOUT ROWID;
CREATE TABLE agent_day (
  agent TEXT NOT NULL, day TEXT NOT NULL, tokens INTEGER NOT NULL, PRIMARY KEY (agent, day)
) STRICT, WITHOUT ROWID;`;

export function createLedger(database: SqliteDatabase): Ledger {
  // What is written late may be older than what is there.
  const handed = database.prepare(`INSERT INTO handed VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET
    digest = iif(excluded.at < at, digest, excluded.digest), at = max(at, excluded.at),
    tokens = tokens + excluded.tokens, present = 1`);
  const spend = database.prepare<{ tokens: number }>(
    `INSERT INTO agent_day VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens RETURNING tokens`,
  );
  const ofThread = database.prepare<{ tokens: number }>(
    'SELECT ifnull(sum(tokens), 0) AS tokens FROM handed WHERE agent = ? AND thread = ?',
  );
  const given = database.prepare<{ at: number }>(
    "SELECT at FROM handed WHERE agent = ? AND thread = ? AND skill = ? AND path = '' AND digest = ? AND present = 1",
  );
  /** Ascending, so that what was handed over within one millisecond keeps its order. */
  let first = 0;
  const hand = ({ at, agent, thread, skill, path, digest, tokens }: Charge): boolean => {
    first = Math.max(at, first + 1);
    return thread !== '' && handed.run(agent, thread, skill, path, digest, first, at, tokens).changes > 0;
  };
  const tokensOf = (agent: string, thread: string): number => ofThread.get(agent, thread)?.tokens ?? 0;
  return {
    hand,
    add(charge) {
      hand(charge);
      return spend.get(charge.agent, dayOf(charge.at), charge.tokens)?.tokens ?? 0;
    },
    tokensOf,
    givenAt: ({ agent, thread, skill, digest }) => given.get(agent, thread, skill, digest)?.at,
    loaded: (agent, thread) =>
      database
        .prepare<Charge>('SELECT * FROM handed WHERE agent = ? AND thread = ? ORDER BY first, skill, path')
        .all(agent, thread),
    empty: (agent, thread) =>
      void database.prepare('UPDATE handed SET present = 0 WHERE agent = ? AND thread = ?').run(agent, thread),
    threads: (where, values, from) =>
      database
        .prepare<ThreadTokens>(
          `SELECT agent, thread, sum(tokens) AS tokens, max(at) AS last FROM handed WHERE${where} at >= ?
           GROUP BY agent, thread ORDER BY last DESC LIMIT 50`,
        )
        .all(...values, from)
        .map((one) => ({ ...one })),
    everything: () => database.prepare<Charge>('SELECT * FROM handed').all(),
    removeOld(now) {
      database
        .prepare(
          `DELETE FROM handed WHERE (agent, thread) IN
             (SELECT agent, thread FROM handed GROUP BY agent, thread HAVING max(at) < ?)
           OR (agent, thread, skill, path) IN (SELECT agent, thread, skill, path FROM (SELECT *,
             row_number() OVER (PARTITION BY agent ORDER BY at DESC) AS place FROM handed) WHERE place > ${MOST_OF_AGENT})`,
        )
        .run(now - THREAD_DAYS * DAY_MS);
      database.prepare('DELETE FROM agent_day WHERE day < ?').run(dayOf(now - KEPT_DAYS * DAY_MS));
    },
  };
}

// --- internal ---

/** From its last load on. */
const THREAD_DAYS = 30;
/** Whoever names a conversation may name very many: the oldest rows of an agent, and of no other, are removed. */
const MOST_OF_AGENT = 20_000;
