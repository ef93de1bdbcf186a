import { setImmediate as pause } from 'node:timers/promises';
import { openDatabase, type SqliteDatabase, versionOf } from '../../core/store/open-database.ts';
import { createFitTable, FIT_TABLE, type FitTable, QUERY_DAYS } from './fit-table.ts';
import { type Charge, createLedger, LEDGER_TABLES, type Ledger, type Spent } from './loaded.ts';
import type { LoadedInThread, OfferCount, Unwritten, UsageRow } from './recorder.ts';
import { conditions, type ReportQuery, usageReport } from './report.ts';
import { DAY_MS, dayOf, KEPT_DAYS } from './since.ts';
import type { UsageEvent, UsageReport } from './types.ts';

/** One row per event, and per day, skill and agent for offers. */
export interface UsageDatabase {
  /** Moves the first 500 rows and offers into the database, in one transaction. */
  writeSome(unwritten: Unwritten): void;
  report(query: ReportQuery): UsageReport;
  /** The newest, oldest first. */
  events(query: EventQuery): readonly UsageRow[];
  readonly ledger: Ledger;
  readonly fits: FitTable;
  /** @param assertWithin - What it throws undoes the charge. */
  charge(one: Charge, assertWithin: (spent: Spent) => void): Spent;
  /** Each content once. */
  loadedIn(thread: string, agent: string | null): readonly LoadedInThread[];
  /** To copy a database in memory into another one. */
  everything(): Unwritten;
  /** Removes rows that are too old or too many, in short steps, at first, each day, and after each 10,000 rows. */
  removeOld(): Promise<void>;
  /** Events of an earlier release that were not kept. */
  readonly notTakenOver: number;
  close(): void;
}

export interface EventQuery extends Pick<ReportQuery, 'from' | 'skill' | 'agent'> {
  readonly thread: string | undefined;
  readonly kind: UsageEvent['kind'] | undefined;
  readonly limit: number;
}

/** The oldest are removed first. One agent can cause many refusals and failures: they remove no loads. */
export interface UsageLimits {
  readonly loads: number;
  readonly refusals: number;
  readonly offers: number;
  /** Days for which what was asked is kept. Default: 30. */
  readonly queryDays?: number;
}

export const LIMITS: UsageLimits = { loads: 150_000, refusals: 50_000, offers: 500_000 };
export const LIMITS_IN_MEMORY: UsageLimits = { loads: 7_500, refusals: 2_500, offers: 20_000 };

/** @throws errors that `sqliteFailure` classifies, and those of `openDatabase`. */
export function openUsageDatabase(file: string, limits: UsageLimits): UsageDatabase {
  const database = openDatabase(file, BUSY_MS);
  try {
    // A crash of the process loses nothing, one of the machine at most the last moments.
    database.exec('PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON');
    const notTakenOver = versionOf(database) === VERSION ? 0 : database.transaction(() => makeTables(database, limits));
    return usageDatabase(database, limits, notTakenOver);
  } catch (error) {
    database.close();
    throw error;
  }
}

// --- internal ---

/** For another process. The write is tried again later. */
const BUSY_MS = 20;
const SLICE = 500;
const STEP = 5_000;
const UPKEEP_ROWS = 10_000;
const VERSION = 5;
/** The release that also counted the events of each day. */
const WITH_COUNTS = 1;
const WITHOUT_PATHS = 2;
const WITHOUT_CLIENTS = 3;
const WITHOUT_FITS = 4;

const EVENT = `
CREATE TABLE event (
  id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, kind TEXT NOT NULL, skill TEXT NOT NULL, digest TEXT,
  agent TEXT, thread TEXT, source TEXT, duration_ms REAL, outcome TEXT NOT NULL, tokens INTEGER
) STRICT;
CREATE INDEX event_thread ON event (thread) WHERE thread IS NOT NULL;`;
const OFFER = `
CREATE TABLE offer (
  day TEXT NOT NULL, skill TEXT NOT NULL, agent TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (day, skill, agent)
) STRICT, WITHOUT ROWID;`;
const SINCE_CLIENTS = 'ALTER TABLE event ADD COLUMN client TEXT;';
const SINCE_FITS = `${FIT_TABLE} PRAGMA user_version = ${VERSION}`;
const SINCE_PATHS = `ALTER TABLE event ADD COLUMN path TEXT; ${LEDGER_TABLES}`;
const COLUMNS = 'time, kind, skill, digest, agent, thread, source, duration_ms, outcome, tokens, path, client';

/** Each limit applies to one group. */
const GROUPS = [
  { limit: 'loads', where: "kind NOT IN ('refusal', 'failure')" },
  { limit: 'refusals', where: "kind IN ('refusal', 'failure')" },
] as const;

/** Keeps data only of releases before: the file may be deleted. @returns as `notTakenOver`. */
function makeTables(database: SqliteDatabase, limits: UsageLimits): number {
  const version = versionOf(database);
  // Another process may have done it meanwhile.
  if (version === VERSION) return 0;
  let lost = 0;
  if (version === WITHOUT_CLIENTS || version === WITHOUT_FITS) {
    database.exec(`${version === WITHOUT_CLIENTS ? SINCE_CLIENTS : ''} ${SINCE_FITS}`);
    return lost;
  }
  if (version !== WITHOUT_PATHS) database.exec(`DROP TABLE IF EXISTS offer; ${OFFER}`);
  if (version === WITH_COUNTS) {
    const { recorded = 0 } = database.prepare<{ recorded: number }>(RECORDED_BEFORE).get() ?? {};
    const kept = GROUPS.map(({ limit, where }) => {
      const counting = database.prepare<{ count: number }>(`SELECT count(*) AS count FROM event WHERE ${where}`);
      return Math.min(counting.get()?.count ?? 0, limits[limit]);
    });
    lost = Math.max(0, recorded - kept.reduce((sum, count) => sum + count, 0));
    database.exec(
      "INSERT INTO offer SELECT day, skill, agent, sum(count) FROM count WHERE kind = 'offer' GROUP BY 1, 2, 3",
    );
  } else if (version !== WITHOUT_PATHS) database.exec(`DROP TABLE IF EXISTS event; ${EVENT}`);
  database.exec(
    `DROP TABLE IF EXISTS count; DROP TABLE IF EXISTS upkeep; ${SINCE_PATHS} ${SINCE_CLIENTS} ${SINCE_FITS}`,
  );
  return lost;
}

const RECORDED_BEFORE = `
SELECT (SELECT ifnull(sum(count), 0) FROM count WHERE kind <> 'offer') +
  (SELECT count(*) FROM event WHERE id > (SELECT counted FROM upkeep)) AS recorded`;

function usageDatabase(database: SqliteDatabase, limits: UsageLimits, notTakenOver: number): UsageDatabase {
  const insert = database.prepare(`INSERT INTO event (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const add = database.prepare(
    `INSERT INTO offer (day, skill, agent, count) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  );
  const ledger = createLedger(database);
  const fits = createFitTable(database);
  let written = UPKEEP_ROWS;
  let cleaned = 0;
  return {
    notTakenOver,
    writeSome({ rows, offers, charges = [], fits: fitted = [] }) {
      const some = rows.slice(0, SLICE);
      const late = charges.slice(0, SLICE);
      const offered = [...offers].slice(0, SLICE);
      const fitting = fitted.slice(0, SLICE);
      database.transaction(() => {
        for (const row of some) {
          const { time, kind, skill, digest, agent, thread, source, durationMs, outcome, tokens, path, client } = row;
          insert.run(time, kind, skill, digest, agent, thread, source, durationMs, outcome, tokens, path, client);
          fits.loaded(row);
        }
        for (const [, { day, skill, agent, count }] of offered) add.run(day, skill, agent, count);
        for (const one of late) ledger.add(one);
        for (const one of fitting) fits.add(one);
      });
      charges.splice(0, late.length);
      fitted.splice(0, fitting.length);
      written += some.length + offered.length + fitting.length;
      rows.splice(0, some.length);
      for (const [key] of offered) offers.delete(key);
    },
    report: (query) =>
      database.transaction(() => {
        // From the event at the limit on, all are kept.
        const kept = GROUPS.map(({ limit, where }) => eventAt(database, where, limits[limit] - 1)?.time);
        const [loads = 0, refusals = 0] = kept;
        return usageReport(database, { ledger, fits }, query, { loads, refusals });
      }, 'deferred'),
    events: (query) => eventsOf(database, query),
    ledger,
    fits,
    charge: (one, assertWithin) =>
      database.transaction(() => {
        const day = ledger.add(one);
        const spent = { day, thread: one.thread === '' ? 0 : ledger.tokensOf(one.agent, one.thread) };
        assertWithin(spent);
        return spent;
      }),
    loadedIn: (thread, agent) =>
      database
        .prepare<LoadedInThread>(
          `SELECT skill, digest, source, agent, thread FROM event
           WHERE thread = ? AND agent IS ? AND kind = 'load' AND digest IS NOT NULL GROUP BY skill, digest`,
        )
        .all(thread, agent),
    everything() {
      const all = { from: 0, skill: undefined, agent: undefined, thread: undefined, kind: undefined };
      const rows = [...eventsOf(database, { ...all, limit: LIMITS_IN_MEMORY.loads + LIMITS_IN_MEMORY.refusals })];
      const offers = database.prepare<OfferCount>('SELECT day, skill, agent, count FROM offer').all();
      const charges = [...ledger.everything()];
      return {
        rows,
        offers: new Map(offers.map((offer, key) => [String(key), offer])),
        charges,
        fits: [...fits.everything()],
      };
    },
    async removeOld() {
      if (written < UPKEEP_ROWS && Date.now() - cleaned < DAY_MS) return;
      written = 0;
      cleaned = Date.now();
      await removeOld(database, limits);
    },
    close: () => database.close(),
  };
}

/** The newest is at 0. */
function eventAt(database: SqliteDatabase, where: string, at: number) {
  const sql = `SELECT id, time FROM event WHERE ${where} ORDER BY id DESC LIMIT 1 OFFSET ?`;
  return database.prepare<{ id: number; time: number }>(sql).all(at)[0];
}

function eventsOf(database: SqliteDatabase, { from, limit, ...query }: EventQuery): readonly UsageRow[] {
  const { where, values } = conditions(query);
  const sql = `SELECT ${COLUMNS.replace('duration_ms', 'duration_ms AS durationMs')} FROM event
    WHERE${where} time >= ? ORDER BY id DESC LIMIT ?`;
  const rows = database.prepare<UsageRow>(sql).all(...values, from, limit);
  // Processes write events up to 200 milliseconds later, so ids are not in order of time.
  return rows.reverse().sort((a, b) => a.time - b.time);
}

async function removeOld(database: SqliteDatabase, limits: UsageLimits): Promise<void> {
  const now = Date.now();
  const oldest = now - KEPT_DAYS * DAY_MS;
  for (const { limit, where } of GROUPS) {
    const last = eventAt(database, where, limits[limit]);
    const remove = database.prepare(
      `DELETE FROM event WHERE id IN (SELECT id FROM event WHERE ${where} AND (id <= ? OR time < ?) LIMIT ${STEP})`,
    );
    while (remove.run(last?.id ?? 0, oldest).changes === STEP) await pause();
  }
  const firstDay = database.prepare<{ day: string | null }>('SELECT min(day) AS day FROM offer');
  const rows = database.prepare<{ count: number }>('SELECT count(*) AS count FROM offer');
  const removeDay = database.prepare('DELETE FROM offer WHERE day = ?');
  for (let day = firstDay.get()?.day; day; day = firstDay.get()?.day) {
    // Today's counts are still needed.
    if (day >= dayOf(oldest) && ((rows.get()?.count ?? 0) <= limits.offers || day >= dayOf(now))) break;
    removeDay.run(day);
    await pause();
  }
  createLedger(database).removeOld(now);
  createFitTable(database).removeOld(now, limits.refusals, limits.queryDays ?? QUERY_DAYS);
}
