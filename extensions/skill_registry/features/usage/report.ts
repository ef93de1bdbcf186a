import type { SqliteDatabase } from '../../core/store/open-database.ts';
import type { FitTable } from './fit-table.ts';
import type { Ledger } from './loaded.ts';
import { boundedName } from './recorder.ts';
import { DAY_MS, dayOf } from './since.ts';
import type { SkillOutcomes, SkillUsage, UsageFigures, UsageReport } from './types.ts';

export interface ReportQuery {
  /** Start of the first day, in milliseconds since 1970. */
  readonly from: number;
  readonly until: number;
  /** As recorded; undefined: all. */
  readonly skill: string | undefined;
  readonly agent: string | undefined;
  readonly loadable: readonly string[];
  /** The other files of a skill; empty for one that is gone. */
  readonly filesOf: (skillId: string) => readonly string[];
  readonly notKept: string | null;
}

/** @param reach - All events since then are kept, in milliseconds since 1970; 0: none was removed. */
export function usageReport(
  database: SqliteDatabase,
  { ledger, fits }: { readonly ledger: Ledger; readonly fits: FitTable },
  { skill, agent, until, loadable, filesOf, notKept, ...query }: ReportQuery,
  reach: { readonly loads: number; readonly refusals: number },
): UsageReport {
  const { where, values } = conditions({ skill, agent });
  const from = Math.max(query.from, reach.loads);
  const rows = <Row>(select: string): Row[] =>
    database
      .prepare<Row>(`WITH used AS (${usedWhere(where)}) ${select}`)
      .all(...values, from, ...values, dayOf(from))
      .map((row) => ({ ...row }));

  const [totals] = rows<UsageFigures>(`SELECT ${FIGURES} FROM used`);
  const found = rows<Omit<SkillUsage, 'lastLoad'>>(
    `SELECT skill AS skillId, ${FIGURES}, count(DISTINCT iif(kind = 'load', agent, NULL)) AS agents,
       max(0, ${sumOf('offer')} - sum(kind = 'load' AND outcome <> 'given')) AS notTaken
     FROM used GROUP BY skill ORDER BY loads DESC, offers DESC, skill`,
  );
  const lastLoads = new Map(
    database
      .prepare<{ skill: string; last: number }>(
        `SELECT skill, max(time) AS last FROM event WHERE${where} kind = 'load' GROUP BY skill`,
      )
      .all(...values)
      .map((row) => [row.skill, new Date(row.last).toISOString()]),
  );
  const read = rows<FileReads>(
    `SELECT skill, path, count(*) AS reads FROM used WHERE path IS NOT NULL GROUP BY skill, path ORDER BY reads DESC, path`,
  );
  const known = new Set(loadable);
  const skills = found
    // An id without a skill has only failures.
    .filter((one) => known.has(one.skillId) || one.offers + one.loads + one.resources + one.refusals > 0)
    .map((one) => ({ ...one, lastLoad: lastLoads.get(one.skillId) ?? null }));
  const byId = new Map(skills.map((one) => [one.skillId, one]));
  return {
    since: new Date(from).toISOString(),
    failuresSince: new Date(Math.max(from, reach.refusals)).toISOString(),
    until: new Date(until).toISOString(),
    days: everyDay(
      from,
      until,
      rows(`SELECT day, ${sumOf('offer')} AS offers, sum(kind = 'load') AS loads FROM used GROUP BY day`),
    ),
    skills,
    // A step of a proposal is not a use of the skill.
    agents: rows(
      `SELECT nullif(agent, '') AS agent, ${sumOf('offer')} AS offers, sum(kind = 'load') AS loads, sum(kind = 'failure') AS failures,
         sum(tokens) AS tokens
       FROM used WHERE kind NOT IN ('proposal', 'outcome') GROUP BY used.agent ORDER BY loads DESC, offers DESC, used.agent`,
    ),
    failing: rows(
      `SELECT skill AS skillId, outcome AS code, count(*) AS count FROM used WHERE kind IN ('refusal', 'failure')
       GROUP BY skill, outcome ORDER BY 3 DESC, skill, outcome LIMIT ${MAX_FAILING}`,
    ),
    ...(skill === undefined ? {} : { files: filesRead(filesOf(skill), read) }),
    unread: skills
      .filter(({ loads }) => loads > 0)
      .map(({ skillId, loads }) => ({ skillId, loads, references: unreadReferences(filesOf(skillId), read, skillId) }))
      .filter(({ references }) => references > 0),
    threads: ledger.threads(where, values, from).map(({ agent: name, last, ...one }) => ({
      ...one,
      agent: name || null,
      last: new Date(last).toISOString(),
    })),
    outcomes: database
      .prepare<SkillOutcomes & { readonly time: number }>(outcomesWhere(where))
      .all(...values, from)
      .map(({ time, ...one }) => ({ ...one, since: new Date(time).toISOString() })),
    dead: loadable
      .filter((skillId) => !byId.get(skillId)?.loads)
      .map((skillId) => ({
        skillId,
        offers: byId.get(skillId)?.offers ?? 0,
        lastLoad: lastLoads.get(skillId) ?? null,
      }))
      .sort((a, b) => b.offers - a.offers || (a.skillId < b.skillId ? -1 : 1)),
    missed: fits.missed(where, values, from),
    totals: totals as UsageFigures,
    notKept,
  };
}

/** Each ends with AND. */
export function conditions(given: Readonly<Record<string, string | undefined>>): {
  readonly where: string;
  readonly values: readonly string[];
} {
  const set = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { where: set.map(([column]) => ` ${column} = ? AND`).join(''), values: set.map(([, value]) => value) };
}

// --- internal ---

const MAX_FAILING = 50;

/** One row per event, and per day for offers. A day is a number, because making a date of each event is slow. */
function usedWhere(where: string): string {
  return `
    SELECT skill, ifnull(agent, '') AS agent, kind, outcome, time / ${DAY_MS} AS day, 1 AS amount,
      ifnull(tokens, 0) AS tokens, path FROM event WHERE${where} time >= ?
    UNION ALL SELECT skill, agent, 'offer', '', unixepoch(day) * 1000 / ${DAY_MS}, count, 0, NULL FROM offer WHERE${where} day >= ?`;
}

interface FileReads {
  readonly skill: string;
  readonly path: string;
  readonly reads: number;
}

function filesRead(files: readonly string[], read: readonly FileReads[]): Required<UsageReport>['files'] {
  const never = files.filter((file) => !read.some(({ path }) => path === boundedName(file)));
  return [...read.map(({ path, reads }) => ({ path, reads })), ...never.map((path) => ({ path, reads: 0 }))];
}

/** How many there are, or 0 when one of them was read. */
function unreadReferences(files: readonly string[], read: readonly FileReads[], skillId: string): number {
  const isReference = (path: string): boolean => path.startsWith('references/');
  const isRead = read.some(({ skill, path }) => skill === skillId && isReference(path));
  return isRead ? 0 : files.filter(isReference).length;
}

/** Of each conversation the last word counts: of a row with max() the other columns are of the same row. */
function outcomesWhere(where: string): string {
  return `SELECT skill AS skillId, digest, min(time) AS time,
    sum(outcome = 'helped') AS helped, sum(outcome = 'did_not') AS didNot FROM (
      SELECT skill, digest, outcome, time, max(id) FROM event WHERE${where} kind = 'outcome' AND time >= ?
      GROUP BY skill, digest, agent, thread)
    GROUP BY skill, digest ORDER BY skill, min(time)`;
}

function sumOf(kind: string): string {
  return `ifnull(sum(iif(kind = '${kind}', amount, 0)), 0)`;
}

const FIGURES = `${['offer', 'load', 'resource', 'refusal', 'failure'].map((kind) => `${sumOf(kind)} AS ${kind}s`).join(', ')},
  ifnull(sum(tokens), 0) AS tokens`;

function everyDay(
  from: number,
  until: number,
  found: readonly { readonly day: number; readonly offers: number; readonly loads: number }[],
): UsageReport['days'] {
  const byDay = new Map(found.map((one) => [one.day, one]));
  const count = Math.floor((until - from) / DAY_MS) + 1;
  return Array.from({ length: count }, (_, at) => {
    const time = from + at * DAY_MS;
    const { offers, loads } = byDay.get(Math.floor(time / DAY_MS)) ?? { offers: 0, loads: 0 };
    return { day: dayOf(time), offers, loads };
  });
}
