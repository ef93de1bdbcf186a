import { DAY_MS, dayOf } from './since.ts';
import type { SkillUsage, UsageFigures, UsageReport } from './types.ts';

/** Counts of one kind for one skill and agent, over all days of a report. */
export interface CountRow {
  readonly skill: string;
  /** Empty: without a name. */
  readonly agent: string;
  readonly kind: string;
  readonly outcome: string;
  readonly count: number;
  readonly tokens: number;
}

export interface ReportRows {
  readonly counts: readonly CountRow[];
  readonly days: readonly { readonly day: string; readonly kind: string; readonly count: number }[];
  /** Time of the last load of each skill, ISO 8601; also before the first day. */
  readonly lastLoads: ReadonlyMap<string, string>;
}

/** What a report is made for. */
export interface ReportRange {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly until: number;
  /** Ids in the catalog that agents may load. */
  readonly loadable: readonly string[];
  readonly notKept: string | null;
}

export function usageReport({ counts, days, lastLoads }: ReportRows, range: ReportRange): UsageReport {
  const skills = skillsOf(counts, lastLoads, new Set(range.loadable));
  const offers = new Map(skills.map((skill) => [skill.skillId, skill.offers]));
  const isLoaded = new Set(skills.filter(({ loads }) => loads > 0).map(({ skillId }) => skillId));
  const dead = range.loadable
    .filter((skillId) => !isLoaded.has(skillId))
    .map((skillId) => ({ skillId, offers: offers.get(skillId) ?? 0, lastLoad: lastLoads.get(skillId) ?? null }));
  return {
    since: new Date(range.from).toISOString(),
    until: new Date(range.until).toISOString(),
    days: daysOf(days, range),
    skills,
    agents: agentsOf(counts),
    failing: failingOf(counts),
    dead: dead.sort((a, b) => b.offers - a.offers || byText(a.skillId, b.skillId)),
    totals: figuresOf(counts),
    notKept: range.notKept,
  };
}

// --- internal ---

/** At most this many rows in `failing`. */
const MAX_FAILING = 50;

const FIELDS: Readonly<Record<string, Exclude<keyof UsageFigures, 'tokens'>>> = {
  offer: 'offers',
  load: 'loads',
  resource: 'resources',
  refusal: 'refusals',
  failure: 'failures',
};

function figuresOf(rows: readonly CountRow[]): UsageFigures {
  const sums = { offers: 0, loads: 0, resources: 0, refusals: 0, failures: 0, tokens: 0 };
  for (const { kind, count, tokens } of rows) {
    const field = FIELDS[kind];
    if (field) sums[field] += count;
    sums.tokens += tokens;
  }
  return sums;
}

function skillsOf(
  counts: readonly CountRow[],
  lastLoads: ReportRows['lastLoads'],
  known: ReadonlySet<string>,
): readonly SkillUsage[] {
  const skills = [...groupBy(counts, ({ skill }) => skill)].map(([skillId, rows]): SkillUsage => {
    const asked = rows.filter(({ kind, outcome }) => kind === 'load' && outcome !== 'given');
    const figures = figuresOf(rows);
    return {
      skillId,
      ...figures,
      notTaken: Math.max(0, figures.offers - sumOf(asked)),
      agents: new Set(rows.filter(({ kind }) => kind === 'load').map(({ agent }) => agent)).size,
      lastLoad: lastLoads.get(skillId) ?? null,
    };
  });
  // An id of no skill has failures only.
  const isSkill = ({ skillId, offers, loads, resources, refusals }: SkillUsage): boolean =>
    known.has(skillId) || offers + loads + resources + refusals > 0;
  return skills
    .filter(isSkill)
    .sort((a, b) => b.loads - a.loads || b.offers - a.offers || byText(a.skillId, b.skillId));
}

function agentsOf(counts: readonly CountRow[]): UsageReport['agents'] {
  // A step of a proposal is not a use of the skill.
  const uses = counts.filter(({ kind }) => FIELDS[kind] !== undefined);
  return [...groupBy(uses, ({ agent }) => agent)]
    .map(([agent, rows]) => {
      const { offers, loads, failures } = figuresOf(rows);
      return { agent: agent === '' ? null : agent, offers, loads, failures };
    })
    .sort((a, b) => b.loads - a.loads || b.offers - a.offers || byText(a.agent ?? '', b.agent ?? ''));
}

function failingOf(counts: readonly CountRow[]): UsageReport['failing'] {
  const failed = counts.filter(({ kind }) => kind === 'failure' || kind === 'refusal');
  return [...groupBy(failed, ({ skill, outcome }) => JSON.stringify([skill, outcome])).values()]
    .map((rows) => ({ skillId: rows[0]?.skill ?? '', code: rows[0]?.outcome ?? '', count: sumOf(rows) }))
    .sort((a, b) => b.count - a.count || byText(a.skillId, b.skillId) || byText(a.code, b.code))
    .slice(0, MAX_FAILING);
}

function daysOf(rows: ReportRows['days'], { from, until }: ReportRange): UsageReport['days'] {
  const byDay = groupBy(rows, ({ day }) => day);
  const days: { day: string; offers: number; loads: number }[] = [];
  for (let time = from; time <= until; time += DAY_MS) {
    const day = dayOf(time);
    const counted = (kind: string): number => sumOf((byDay.get(day) ?? []).filter((row) => row.kind === kind));
    days.push({ day, offers: counted('offer'), loads: counted('load') });
  }
  return days;
}

function groupBy<T>(rows: readonly T[], keyOf: (row: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}

function sumOf(rows: readonly { readonly count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
