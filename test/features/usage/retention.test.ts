import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '../../../extensions/skill_registry/core/store/open-database.ts';
import type { OfferCount, UsageRow } from '../../../extensions/skill_registry/features/usage/recorder.ts';
import {
  openUsageDatabase,
  type UsageDatabase,
} from '../../../extensions/skill_registry/features/usage/usage-database.ts';
import { skill } from '../../helpers/boot-root.ts';
import { openRoot } from '../../helpers/open-registry.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const DAY = 86_400_000;
const NOW = Date.now();
const LIMITS = { loads: 1000, refusals: 1000, offers: 1000 };

const row = (daysAgo: number, skill = 'tea', refused = false): UsageRow => ({
  ...{ time: NOW - daysAgo * DAY, skill, digest: null, agent: null, thread: null, source: 'skills' },
  ...{ durationMs: 1, tokens: 5, path: null, client: null },
  ...(refused ? { kind: 'refusal', outcome: 'SKILL_HELD' } : { kind: 'load', outcome: 'success' }),
});
const everything = { from: 0, skill: undefined, agent: undefined, thread: undefined, kind: undefined, limit: 10_000 };
const reportOf = (database: UsageDatabase) =>
  database.report({
    from: NOW - 180 * DAY,
    until: NOW,
    skill: undefined,
    agent: undefined,
    loadable: [],
    filesOf: () => [],
    notKept: null,
  });
const daysAgo = (database: UsageDatabase, kind?: 'load' | 'refusal') =>
  database.events({ ...everything, kind }).map(({ time }) => Math.round((NOW - time) / DAY));
const file = (): string => join(tempFolder(), 'data', 'usage.db');
const offersOf = (count: number, ago = 0): Map<string, OfferCount> => {
  const day = new Date(NOW - ago * DAY).toISOString().slice(0, 10);
  return new Map(Array.from({ length: count }, (_, n) => [String(n), { day, skill: `s${n}`, agent: '', count: 2 }]));
};

it('removes events and offers that are older than 180 days, and keeps the others', async () => {
  const database = openUsageDatabase(file(), LIMITS);
  database.writeSome({ rows: [row(200), row(181), row(179), row(0)], offers: offersOf(3, 181) });
  database.writeSome({ rows: [], offers: offersOf(2, 179) });
  await database.removeOld();
  expect(daysAgo(database)).toEqual([179, 0]);
  expect(reportOf(database).totals).toMatchObject({ loads: 2, offers: 4 });
  database.close();
});

it('keeps the newest loads and the newest refusals, as many of each as it may, and says since when', async () => {
  const database = openUsageDatabase(file(), { ...LIMITS, loads: 10, refusals: 5 });
  const rows = Array.from({ length: 30 }, (_, index) => row(30 - index));
  const refused = Array.from({ length: 100 }, () => row(0, 'tea', true));
  expect(reportOf(database)).toMatchObject({ since: expect.stringMatching(/^20/) });
  database.writeSome({ rows: [...rows, ...refused], offers: new Map() });
  await database.removeOld();
  expect(daysAgo(database, 'load')).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  expect(daysAgo(database, 'refusal')).toEqual([0, 0, 0, 0, 0]);
  const report = reportOf(database);
  expect(report).toMatchObject({ totals: { loads: 10, refusals: 5 } });
  expect(report.since).toBe(new Date(NOW - 10 * DAY).toISOString());
  expect(report.failuresSince).toBe(new Date(NOW).toISOString());
  expect(report.days).toHaveLength(11);
  database.close();
});

it('removes whole days of offers when there are too many, and never those of today', async () => {
  const database = openUsageDatabase(file(), { ...LIMITS, offers: 10 });
  for (const ago of [3, 2, 1]) database.writeSome({ rows: [], offers: offersOf(4, ago) });
  await database.removeOld();
  expect(reportOf(database).totals.offers).toBe(16);
  database.close();
});

it('removes rows at the first write of a process, and after each 10,000', async () => {
  const path = file();
  const database = openUsageDatabase(path, { ...LIMITS, loads: 3 });
  await database.removeOld();
  database.writeSome({ rows: [row(4), row(3), row(2), row(1)], offers: new Map() });
  await database.removeOld();
  expect(database.events(everything)).toHaveLength(4);
  const rows = Array.from({ length: 10_000 }, () => row(0));
  while (rows.length > 0) database.writeSome({ rows, offers: new Map() });
  await database.removeOld();
  expect(database.events(everything)).toHaveLength(3);
  database.close();
});

it('writes all offers of a long list, and adds up what is written twice', () => {
  const database = openUsageDatabase(file(), LIMITS);
  for (const unwritten of [
    { rows: [], offers: offersOf(1200) },
    { rows: [], offers: offersOf(1200) },
  ]) {
    while (unwritten.offers.size > 0) database.writeSome(unwritten);
  }
  const { skills } = reportOf(database);
  expect(skills).toHaveLength(1200);
  expect(new Set(skills.map(({ offers }) => offers))).toEqual(new Set([4]));
  database.close();
});

/** A file as release 0.1.0 made it. */
function writeOldFile(path: string, events: number, counted: number): void {
  const database = openDatabase(path);
  database.exec(`
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
INSERT INTO upkeep VALUES (0, ${counted > 0 ? 1 : 0});
PRAGMA user_version = 1;`);
  const day = new Date(NOW).toISOString().slice(0, 10);
  const insert = database.prepare(
    "INSERT INTO event (time, kind, skill, outcome, tokens) VALUES (?, 'load', 'tea', 'success', 5)",
  );
  for (let at = 0; at < events; at++) insert.run(NOW - (events - at) * 1000);
  const count = database.prepare("INSERT INTO count VALUES (?, 'tea', '', ?, ?, ?, 0, 0)");
  count.run(day, 'offer', '', 7);
  if (counted > 0) count.run(day, 'load', 'success', counted);
  database.close();
}

it('takes over the events and offers of a file of the release before, and has lost none of few', () => {
  const path = file();
  writeOldFile(path, 3, 1);
  const database = openUsageDatabase(path, LIMITS);
  expect(database.notTakenOver).toBe(0);
  expect(reportOf(database).totals).toMatchObject({ loads: 3, offers: 7, tokens: 15 });
  database.close();
  const again = openUsageDatabase(path, LIMITS);
  expect(again.notTakenOver).toBe(0);
  expect(reportOf(again).totals).toMatchObject({ loads: 3, offers: 7 });
  again.close();
});

it('takes over everything of a file that kept no paths, and keeps them from then on', () => {
  const path = file();
  const before = openUsageDatabase(path, LIMITS);
  before.writeSome({ rows: [row(1)], offers: offersOf(1) });
  before.close();
  const raw = openDatabase(path);
  raw.exec('ALTER TABLE event DROP COLUMN path; ALTER TABLE event DROP COLUMN client; PRAGMA user_version = 2');
  raw.close();
  const database = openUsageDatabase(path, LIMITS);
  database.writeSome({ rows: [{ ...row(0), kind: 'resource', path: 'references/a.md' }], offers: new Map() });
  expect(reportOf(database).totals).toMatchObject({ loads: 1, offers: 2, resources: 1 });
  expect(database.events(everything).map((one) => one.path)).toEqual([null, 'references/a.md']);
  database.close();
});

it('takes over everything of a file that kept no clients, what conversations have loaded included', () => {
  const path = file();
  const before = openUsageDatabase(path, LIMITS);
  const charge = { at: NOW, agent: 'clerk', thread: 't', skill: 'tea', path: '', digest: 'd', tokens: 5 };
  before.writeSome({ rows: [row(1)], offers: offersOf(1), charges: [charge] });
  before.close();
  const raw = openDatabase(path);
  raw.exec('ALTER TABLE event DROP COLUMN client; PRAGMA user_version = 3');
  raw.close();
  const database = openUsageDatabase(path, LIMITS);
  expect(database.ledger.tokensOf('clerk', 't')).toBe(5);
  database.writeSome({ rows: [{ ...row(0), client: 'host 1' }], offers: new Map() });
  expect(database.events(everything).map((one) => one.client)).toEqual([null, 'host 1']);
  database.close();
});

it('counts what it does not take over: events over the limit, and days of which only the counts were left', async () => {
  const path = file();
  writeOldFile(path, 5, 101);
  const database = openUsageDatabase(path, { ...LIMITS, loads: 3 });
  // 101 counted and 4 not yet counted, of which 3 stay.
  expect(database.notTakenOver).toBe(102);
  await database.removeOld();
  expect(reportOf(database).totals.loads).toBe(3);
  database.close();
});

it('tells a person what was dropped of an old file', async () => {
  const root = tempFolder({ ...skill('tea'), 'data/.keep': '' });
  writeOldFile(join(root, 'data/skill_registry/usage.db'), 2, 1001);
  const registry = await openRoot(root, {});
  expect((await registry.usage.report()).totals.loads).toBe(2);
  const problems = registry.problems().filter(({ code }) => code === 'USAGE_NOT_RECORDED');
  expect(problems).toMatchObject([{ message: expect.stringContaining('1,000 of its events were dropped') }]);
});
