import { setImmediate as pause } from 'node:timers/promises';
import type { SqliteDatabase } from '../store/open-database.ts';
import { openDatabase } from '../store/open-database.ts';
import type { OfferCount, Unwritten, UsageRow } from './recorder.ts';
import type { CountRow, ReportRows } from './report.ts';
import { DAY_MS, dayOf, KEPT_DAYS } from './since.ts';
import type { UsageEvent } from './types.ts';

/**
 * `usage.db`: one row for each event, and for each day the counts of all kinds, from which reports are made. Events are counted later, many
 * at once, because counting each one when it is written would double the cost.
 */
export interface UsageDatabase {
  /** Writes the first 500 rows and offers in one transaction and removes them from `unwritten`. */
  writeSome(unwritten: Unwritten): void;
  rowsFor(query: CountQuery): ReportRows;
  events(query: EventQuery): readonly UsageRow[];
  /** All content of a database in memory, to write it into another database. */
  everything(): Unwritten;
  /** Removes rows that are too old or too many, in short steps. Does nothing when that was done in the last six hours, unless 10,000 rows were written since. */
  removeOld(): Promise<void>;
  close(): void;
}

export interface CountQuery {
  /** The first day. */
  readonly day: string;
  readonly skill: string | undefined;
  readonly agent: string | undefined;
}

export interface EventQuery {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly skill: string | undefined;
  readonly agent: string | undefined;
  readonly thread: string | undefined;
  readonly kind: UsageEvent['kind'] | undefined;
  readonly limit: number;
}

/** How many rows are kept, with the oldest removed first. */
export interface UsageLimits {
  readonly events: number;
  readonly counts: number;
}

export const LIMITS: UsageLimits = { events: 1_000_000, counts: 500_000 };
export const LIMITS_IN_MEMORY: UsageLimits = { events: 10_000, counts: 20_000 };

/**
 * @param file - Absolute, or `:memory:`.
 * @throws errors that `sqliteFailure` classifies, and those of `openDatabase`.
 */
export function openUsageDatabase(file: string, limits: UsageLimits): UsageDatabase {
  const database = openDatabase(file, BUSY_MS);
  try {
    // A crash of the process loses nothing; one of the machine at most the last moments.
    database.exec('PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF');
    if (versionOf(database) !== VERSION) database.transaction(() => makeTables(database));
    return usageDatabase(database, limits);
  } catch (error) {
    database.close();
    throw error;
  }
}

// --- internal ---

/** Milliseconds that a write waits for another process. The write is tried again later. */
const BUSY_MS = 20;
/** Rows, and offers, of one transaction. */
const SLICE = 500;
/** Rows that one step of `removeOld` removes. */
const STEP = 5_000;
const UPKEEP_MS = 6 * 3_600_000;
const UPKEEP_ROWS = 10_000;
const VERSION = 1;

const TABLES = `
CREATE TABLE event (
  id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, kind TEXT NOT NULL, skill TEXT NOT NULL, digest TEXT, agent TEXT, thread TEXT,
  source TEXT, duration_ms REAL, outcome TEXT NOT NULL, tokens INTEGER
) STRICT;
CREATE INDEX event_thread ON event (thread) WHERE thread IS NOT NULL;
CREATE TABLE count (
  day TEXT NOT NULL, skill TEXT NOT NULL, agent TEXT NOT NULL, kind TEXT NOT NULL, outcome TEXT NOT NULL,
  count INTEGER NOT NULL, tokens INTEGER NOT NULL, last INTEGER NOT NULL,
  PRIMARY KEY (day, skill, agent, kind, outcome)
) STRICT, WITHOUT ROWID;
CREATE TABLE upkeep (last INTEGER NOT NULL, counted INTEGER NOT NULL) STRICT;
INSERT INTO upkeep VALUES (0, 0);
PRAGMA user_version = ${VERSION};`;

function versionOf(database: SqliteDatabase): number {
  return database.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version ?? 0;
}

/** Deletes the tables of another version: the file is one that may be deleted. */
function makeTables(database: SqliteDatabase): void {
  // Another process may have done it meanwhile.
  if (versionOf(database) === VERSION) return;
  for (const table of ['event', 'count', 'upkeep']) database.exec(`DROP TABLE IF EXISTS ${table}`);
  database.exec(TABLES);
}

function usageDatabase(database: SqliteDatabase, limits: UsageLimits): UsageDatabase {
  const insert = database.prepare(
    'INSERT INTO event (time, kind, skill, digest, agent, thread, source, duration_ms, outcome, tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const add = database.prepare(
    `INSERT INTO count (day, skill, agent, kind, outcome, count, tokens, last) VALUES (?, ?, ?, 'offer', '', ?, 0, 0)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  );
  let written = 0;
  return {
    writeSome({ rows, offers }) {
      const [some, offered] = [rows.slice(0, SLICE), [...first(offers, SLICE)]];
      database.transaction(() => {
        for (const row of some) {
          const { time, kind, skill, digest, agent, thread, source, durationMs, outcome, tokens } = row;
          insert.run(time, kind, skill, digest, agent, thread, source, durationMs, outcome, tokens);
        }
        for (const { day, skill, agent, count } of offered) add.run(day, skill, agent, count);
      });
      written += some.length;
      rows.splice(0, some.length);
      for (const { key } of offered) offers.delete(key);
    },
    rowsFor: (query) => rowsFor(database, query),
    events: (query) => eventsOf(database, query),
    everything: () => everythingIn(database),
    async removeOld() {
      const isDue = written >= UPKEEP_ROWS;
      if (isDue) written = 0;
      await removeOld(database, limits, isDue);
    },
    close: () => database.close(),
  };
}

/** A row for `COUNTED`. */
const COUNT_EVENTS = `
INSERT INTO count (day, skill, agent, kind, outcome, count, tokens, last)
SELECT date(time / 1000, 'unixepoch'), skill, ifnull(agent, ''), kind, outcome, count(*), ifnull(sum(tokens), 0), max(time)
FROM event WHERE id > ? AND id <= ? GROUP BY 1, 2, 3, 4, 5
ON CONFLICT DO UPDATE SET count = count + excluded.count, tokens = tokens + excluded.tokens, last = max(last, excluded.last)`;

/** The daily counts, and the events that are not counted yet. */
const COUNTED = `(
SELECT day, skill, agent, kind, outcome, count, tokens, last FROM count UNION ALL
SELECT date(time / 1000, 'unixepoch'), skill, ifnull(agent, ''), kind, outcome, 1, ifnull(tokens, 0), time FROM event
WHERE id > (SELECT counted FROM upkeep))`;

function* first(
  offers: ReadonlyMap<string, OfferCount>,
  most: number,
): Generator<OfferCount & { readonly key: string }> {
  let taken = 0;
  for (const [key, offer] of offers) {
    if (taken++ === most) return;
    yield { key, ...offer };
  }
}

function rowsFor(database: SqliteDatabase, { day, skill, agent }: CountQuery): ReportRows {
  const { where, values } = conditions({ skill, agent });
  const read = <Row>(sql: string, ...before: readonly string[]): Row[] =>
    database.prepare<Row>(sql).all(...values, ...before);
  return database.transaction(() => {
    const counts = read<CountRow>(
      `SELECT skill, agent, kind, outcome, sum(count) AS count, sum(tokens) AS tokens FROM ${COUNTED}
       WHERE${where} day >= ? GROUP BY skill, agent, kind, outcome`,
      day,
    );
    const days = read<ReportRows['days'][number]>(
      `SELECT day, kind, sum(count) AS count FROM ${COUNTED}
       WHERE${where} day >= ? AND kind IN ('offer', 'load') GROUP BY day, kind`,
      day,
    );
    const loads = read<{ skill: string; last: number }>(
      `SELECT skill, max(last) AS last FROM ${COUNTED}
       WHERE${where} kind = 'load' GROUP BY skill`,
    );
    return { counts, days, lastLoads: new Map(loads.map((row) => [row.skill, new Date(row.last).toISOString()])) };
  }, 'deferred');
}

function eventsOf(database: SqliteDatabase, { from, limit, ...query }: EventQuery): readonly UsageRow[] {
  const { where, values } = conditions(query);
  const sql = `SELECT time, kind, skill, digest, agent, thread, source, duration_ms AS durationMs, outcome, tokens FROM event
    WHERE${where} time >= ? ORDER BY id DESC LIMIT ?`;
  const rows = database.prepare<UsageRow>(sql).all(...values, from, limit);
  // Processes write their events up to 200 milliseconds later, so ids are not in order of time.
  return rows.reverse().sort((a, b) => a.time - b.time);
}

function everythingIn(database: SqliteDatabase): Unwritten {
  const everyone = { skill: undefined, agent: undefined, thread: undefined, kind: undefined };
  const rows = [...eventsOf(database, { ...everyone, from: 0, limit: LIMITS_IN_MEMORY.events })];
  const offers = database.prepare<OfferCount>("SELECT day, skill, agent, count FROM count WHERE kind = 'offer'").all();
  return { rows, offers: new Map(offers.map((offer, key) => [String(key), { ...offer }])) };
}

/** Conditions for a WHERE clause; each ends with AND. */
function conditions(given: Readonly<Record<string, string | undefined>>): {
  readonly where: string;
  readonly values: readonly string[];
} {
  const set = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { where: set.map(([column]) => ` ${column} = ? AND`).join(''), values: set.map(([, value]) => value) };
}

/** Adds events that are not counted yet to the daily counts, in steps. */
async function countEvents(database: SqliteDatabase): Promise<void> {
  const state = database.prepare<{ counted: number; most: number | null }>(
    'SELECT counted, (SELECT max(id) FROM event) AS most FROM upkeep',
  );
  const [count, note] = [database.prepare(COUNT_EVENTS), database.prepare('UPDATE upkeep SET counted = ?')];
  const countSome = (): boolean =>
    database.transaction(() => {
      const { counted = 0, most } = state.get() ?? { most: 0 };
      if (most === null || counted >= most) return false;
      const until = Math.min(counted + STEP, most);
      count.run(counted, until);
      note.run(until);
      return until < most;
    });
  while (countSome()) await pause();
}

async function removeOld(database: SqliteDatabase, limits: UsageLimits, isDue: boolean): Promise<void> {
  const now = Date.now();
  const { last = 0 } = database.prepare<{ last: number }>('SELECT last FROM upkeep').get() ?? {};
  // A `last` in the future comes from a wrong clock, and is ignored.
  if (!isDue && last <= now && now - last < UPKEEP_MS) return;
  database.prepare('UPDATE upkeep SET last = ?').run(now);
  await countEvents(database);
  const { most = 0 } = database.prepare<{ most: number | null }>('SELECT max(id) AS most FROM event').get() as {
    most: number;
  };
  const oldest = now - KEPT_DAYS * DAY_MS;
  const someEvents = database.prepare(
    'DELETE FROM event WHERE id IN (SELECT id FROM event ORDER BY id LIMIT ?) AND (id <= ? OR time < ?)',
  );
  while (someEvents.run(STEP, most - limits.events, oldest).changes === STEP) await pause();
  const day = dayOf(oldest);
  const firstDay = database.prepare<{ day: string | null }>('SELECT min(day) AS day FROM count');
  const rows = database.prepare<{ rows: number }>('SELECT count(*) AS rows FROM count');
  const removeDay = database.prepare('DELETE FROM count WHERE day = ?');
  for (let at = firstDay.get()?.day; at; at = firstDay.get()?.day) {
    // The counts of today are still needed.
    if (at >= day && ((rows.get()?.rows ?? 0) <= limits.counts || at >= dayOf(now))) break;
    removeDay.run(at);
    await pause();
  }
}
