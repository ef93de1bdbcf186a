import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { OfferCount, UsageRow } from '../../../extensions/skill_registry/usage/recorder.ts';
import { openUsageDatabase } from '../../../extensions/skill_registry/usage/usage-database.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const DAY = 86_400_000;
const NOW = Date.now();

const row = (daysAgo: number, skill = 'tea'): UsageRow => ({
  ...{ time: NOW - daysAgo * DAY, kind: 'load', skill, digest: null, agent: null, thread: null, source: 'skills' },
  ...{ durationMs: 1, outcome: 'success', tokens: 5 },
});
const everything = { from: 0, skill: undefined, agent: undefined, thread: undefined, kind: undefined, limit: 10_000 };
const allDays = { day: '0', skill: undefined, agent: undefined };
const file = (): string => join(tempFolder(), 'data', 'usage.db');

it('removes rows and counts that are older than 180 days, and keeps the others', async () => {
  const database = openUsageDatabase(file(), { events: 1000, counts: 1000 });
  database.writeSome({ rows: [row(200), row(181), row(179), row(0)], offers: new Map() });
  await database.removeOld();
  expect(database.events(everything).map(({ time }) => Math.round((NOW - time) / DAY))).toEqual([179, 0]);
  expect(database.rowsFor(allDays).days).toHaveLength(2);
  database.close();
});

it('keeps as many rows as it may, the newest, and counts whole days', async () => {
  const database = openUsageDatabase(file(), { events: 10, counts: 10 });
  const rows = Array.from({ length: 30 }, (_, index) => row(30 - index, `skill-${index % 5}`));
  database.writeSome({ rows, offers: new Map() });
  await database.removeOld();
  expect(database.events(everything).map(({ time }) => Math.round((NOW - time) / DAY))).toEqual([
    10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
  ]);
  expect(database.rowsFor(allDays).counts.reduce((sum, { count }) => sum + count, 0)).toBe(10);
  database.close();
});

it('does it every few hours, for all processes together, and when much was written', async () => {
  const path = file();
  const [one, other] = [
    openUsageDatabase(path, { events: 3, counts: 1000 }),
    openUsageDatabase(path, { events: 3, counts: 1000 }),
  ];
  await one.removeOld();
  one.writeSome({ rows: [row(4), row(3), row(2), row(1)], offers: new Map() });
  await one.removeOld();
  await other.removeOld();
  expect(one.events(everything)).toHaveLength(4);
  const rows = Array.from({ length: 10_000 }, () => row(0));
  while (rows.length > 0) other.writeSome({ rows, offers: new Map() });
  await other.removeOld();
  expect(one.events(everything)).toHaveLength(3);
  one.close();
  other.close();
});

it('writes all offers of a long list, and adds up what is written twice', () => {
  const database = openUsageDatabase(file(), { events: 10, counts: 5000 });
  const offers = (): Map<string, OfferCount> =>
    new Map(
      Array.from({ length: 1200 }, (_, n) => [String(n), { day: '2026-11-22', skill: `s${n}`, agent: '', count: 2 }]),
    );
  for (const unwritten of [
    { rows: [], offers: offers() },
    { rows: [], offers: offers() },
  ]) {
    while (unwritten.offers.size > 0) database.writeSome(unwritten);
  }
  const { counts } = database.rowsFor(allDays);
  expect(counts).toHaveLength(1200);
  expect(new Set(counts.map(({ count }) => count))).toEqual(new Set([4]));
  database.close();
});
