import { CodedError } from 'skill-registry/kernel';
import type { UsageEvent, UsageReport } from '../../extensions/skill_registry/host.ts';
import { nearestSkills } from '../../extensions/skill_registry/host.ts';
import { formatTable, printable, toWire } from '../../lib/text/index.ts';
import { type OpenRegistry, openRegistry } from '../open-registry.ts';
import { EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal, widthOf } from '../terminal.ts';

export interface StatsFlags {
  readonly agent?: string;
  readonly since?: string;
  readonly dead?: boolean;
  readonly thread?: string;
}

/** `skill-registry stats [<id>]`: what agents did with skills. */
export async function stats(
  skillId: string | undefined,
  options: GlobalOptions & StatsFlags,
  terminal: Terminal,
): Promise<ExitStatus> {
  const opened = await openRegistry(options, terminal);
  const { registry } = opened;
  const { agent, since, thread } = options;
  try {
    if (thread !== undefined) {
      const events = await registry.usage.events({ thread, skillId, agent, since, limit: MAX_EVENTS });
      showEvents(events, thread, options, terminal);
      return events.length > 0 ? EXIT.done : EXIT.problem;
    }
    const report = await registry.usage.report({ skillId, agent, since });
    if (skillId !== undefined) assertKnown(skillId, report, opened);
    if (options.json) printJson(terminal, wireOf(report));
    else showReport(report, options, terminal);
    if (report.notKept !== null) terminal.err(`Nothing is kept: ${printable(report.notKept)}\n`);
    return EXIT.done;
  } finally {
    await registry.close();
  }
}

// --- internal ---

/** Of one conversation. */
const MAX_EVENTS = 10_000;
/** From this width on, there are columns for what happens seldom. */
const WIDE = 100;

function showEvents(events: readonly UsageEvent[], thread: string, { json }: GlobalOptions, terminal: Terminal): void {
  if (json) printJson(terminal, { thread, events: events.map(toWire) });
  else if (events.length > 0) {
    const cells = events.map(({ time, kind, skillId, digest, revision, agent, outcome }) => [
      `${time.slice(0, 10)} ${time.slice(11, 19)}`,
      kind,
      digest?.replace('sha256:', '').slice(0, 8) ?? '-',
      revision === undefined ? '-' : String(revision),
      skillId + (outcome === 'success' ? '' : ` (${outcome})`) + (agent === undefined ? '' : `, ${agent}`),
    ]);
    terminal.out(`${formatTable(['TIME (UTC)', 'KIND', 'DIGEST', 'REV', 'SKILL, AGENT'], cells, widthOf(terminal))}\n`);
  }
  terminal.err(`${events.length} event(s) of thread ${printable(thread)}\n`);
}

function showReport(report: UsageReport, { dead }: StatsFlags, terminal: Terminal): void {
  const width = widthOf(terminal);
  const table = (header: readonly string[], rows: readonly (readonly (string | number)[])[]): void => {
    if (rows.length > 0) terminal.out(`\n${formatTable(header, rows, width)}\n`);
  };
  const { totals, since, failuresSince, until, skills, agents, failing } = report;
  terminal.out(`${since.slice(0, 10)} to ${until.slice(0, 10)} (UTC)\n`);
  if (dead) {
    terminal.out(`${report.dead.length} dead skill(s): in the catalog, not loaded\n`);
    const rows = report.dead.map(({ skillId, offers, lastLoad }) => [offers, dayOf(lastLoad), skillId]);
    table(['OFFERED', 'LAST LOAD', 'SKILL'], rows);
    return;
  }
  const { loads, offers, resources, refusals, failures, tokens } = totals;
  terminal.out(`${count(loads)} load(s), ${count(resources)} file(s), ${count(tokens)} token(s)\n`);
  const fewer = failuresSince > since ? `, both since ${failuresSince.slice(0, 10)}` : '';
  terminal.out(`${count(offers)} offer(s), ${count(refusals)} refusal(s), ${count(failures)} failure(s)${fewer}\n`);
  terminal.out(`${report.dead.length} dead skill(s)${report.dead.length > 0 ? ': --dead lists them' : ''}\n`);
  const isWide = width === undefined || width >= WIDE;
  const rare = isWide ? ['FILES', 'REFUSED', 'FAILED', 'AGENTS'] : [];
  table(
    ['LOADS', 'OFFERED', 'NOT TAKEN', 'TOKENS', ...rare, 'LAST LOAD', 'SKILL'],
    skills.map((one) => [
      ...[one.loads, one.offers, one.notTaken, one.tokens],
      ...(isWide ? [one.resources, one.refusals, one.failures, one.agents] : []),
      ...[dayOf(one.lastLoad), one.skillId],
    ]),
  );
  table(
    ['LOADS', 'OFFERED', 'FAILED', 'AGENT'],
    agents.map((one) => [one.loads, one.offers, one.failures, one.agent ?? '(without a name)']),
  );
  table(
    ['TIMES', 'WHAT FAILS', 'SKILL'],
    failing.map((one) => [one.count, one.code, one.skillId]),
  );
}

function wireOf(report: UsageReport): Readonly<Record<string, unknown>> {
  const { skills, dead, failing } = report;
  return { ...toWire(report), skills: skills.map(toWire), dead: dead.map(toWire), failing: failing.map(toWire) };
}

/** @throws SKILL_NOT_FOUND for an id that is neither in the catalog nor in the figures. */
function assertKnown(skillId: string, { skills, failing }: UsageReport, { registry }: OpenRegistry): void {
  const { byId, byQualifiedId } = registry.snapshot();
  if (byId.has(skillId) || byQualifiedId.has(skillId) || skills.length > 0 || failing.length > 0) return;
  const nearest = nearestSkills(registry.snapshot(), skillId);
  const near = nearest.length > 0 ? ` Nearest: ${nearest.join(', ')}.` : '';
  throw new CodedError('SKILL_NOT_FOUND', `Nothing is recorded of a skill ${JSON.stringify(skillId)}.${near}`);
}

function dayOf(time: string | null): string {
  return time?.slice(0, 10) ?? 'never';
}

/** `12,345` */
function count(value: number): string {
  return value.toLocaleString('en-US');
}
