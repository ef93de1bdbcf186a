import { CodedError } from 'skill-registry/kernel';
import { declaredTurn } from '../../../../kernel/host.ts';
import {
  EXIT,
  type ExitStatus,
  invalidArgument,
  nearestText,
  type Options,
} from '../../../../lib/command-line/index.ts';
import { nearestIds, plural, printable, toWire, toWireDeep } from '../../../../lib/text/index.ts';
import type { CommandTerminal, OpenRegistry } from '../../core/command-line.ts';
import type { UsageEvent, UsageReport } from './types.ts';

interface StatsOptions extends Options {
  readonly agent?: string;
  readonly since?: string;
  readonly thread?: string;
  readonly dead?: boolean;
  readonly missed?: boolean;
}

export async function stats(
  skillId: string | undefined,
  options: StatsOptions,
  terminal: CommandTerminal,
): Promise<ExitStatus> {
  const opened = await terminal.openRegistry(options, { checksArguments: false });
  const { usage } = opened.registry;
  const { agent, since, thread } = options;
  if (thread !== undefined) {
    const events = await usage.events({ thread, skillId, agent, since, limit: MAX_EVENTS });
    terminal.print({ thread, events: events.map(toWire) }, () => eventTable(events, terminal));
    terminal.say(`${plural(events.length, 'event')} of thread ${thread}`);
    return events.length > 0 ? EXIT.done : EXIT.problem;
  }
  const report = await usage.report({ skillId, agent, since });
  if (skillId !== undefined) assertKnown(skillId, report, opened);
  terminal.print(toWireDeep(report), () => reportText(report, options, terminal));
  if (report.notKept !== null) terminal.say(`Nothing is kept: ${report.notKept}`);
  return EXIT.done;
}

interface LoadedOptions extends Pick<StatsOptions, 'agent' | 'thread'>, Options {
  readonly last?: boolean;
  readonly tokens?: string;
}

export async function loaded(options: LoadedOptions, terminal: CommandTerminal): Promise<ExitStatus> {
  const { agent, last, tokens } = options;
  if (options.thread === undefined && !last) throw invalidArgument('Give --thread <id>, or --last for a guess.');
  if (tokens !== undefined && !/^\d{1,9}$/.test(tokens)) throw invalidArgument('--tokens takes a whole number.');
  const { registry, root, trusted } = await terminal.openRegistry(options);
  const { usage } = registry;
  const turn = agent === undefined ? {} : await declaredTurn(root, agent, trusted, registry.admin.agents());
  const threads = last ? (await usage.report({ agent })).threads : [];
  const thread = options.thread ?? threads.find((one) => one.agent === (agent ?? null))?.thread;
  const query = { agent, thread: thread ?? '', ...(tokens === undefined ? {} : { tokens: Number(tokens) }) };
  const { skills, text } = thread === undefined ? { skills: [], text: '' } : await usage.loadedIn(query, turn);
  const guess = last ? 'A guess: this is the conversation that was used last.\n\n' : '';
  const shown = terminal.terminal ? printable(text) : text;
  terminal.print({ thread, guess: last === true, skills: skills.map(toWire) }, () => text && guess + shown);
  const where = thread === undefined ? 'no conversation' : `thread ${thread}`;
  terminal.say(`${plural(skills.length, 'skill')} loaded in ${where}`);
  return skills.length > 0 ? EXIT.done : EXIT.problem;
}

// --- internal ---

const MAX_EVENTS = 10_000;
const WIDE = 100;

function eventTable(events: readonly UsageEvent[], { table }: CommandTerminal): string {
  const cells = events.map(({ time, kind, skillId, digest, revision, agent, client, outcome, path }) => [
    `${time.slice(0, 10)} ${time.slice(11, 19)}`,
    kind,
    digest?.replace('sha256:', '').slice(0, 8) ?? '-',
    revision === undefined ? '-' : String(revision),
    [skillId, path ?? []].flat().join(' ') +
      (outcome === 'success' ? '' : ` (${outcome})`) +
      (agent === undefined ? '' : `, ${agent}`) +
      (client === undefined ? '' : `, ${JSON.stringify(client)}`),
  ]);
  return table(['TIME (UTC)', 'KIND', 'DIGEST', 'REV', 'SKILL, AGENT, CLIENT'], cells);
}

function reportText(report: UsageReport, options: StatsOptions, { table, width }: CommandTerminal): string {
  const { totals, since, failuresSince, until, dead, missed } = report;
  const period = `${since.slice(0, 10)} to ${until.slice(0, 10)} (UTC)`;
  if (options.dead) {
    const rows = dead.map(({ skillId, offers, lastLoad }) => [offers, dayOf(lastLoad), skillId]);
    const title = `${period}\n${plural(dead.length, 'skill')} not loaded by any agent`;
    return paragraphs([title, table(['OFFERED', 'LAST LOAD', 'SKILL'], rows)]);
  }
  if (options.missed) {
    const rows = missed.map((one) => [one.times, one.threads, dayOf(one.last), one.skillId, one.words.join(' ')]);
    const title = `${period}\n${plural(missed.length, 'skill')} offered as a good fit, and not loaded`;
    return paragraphs([title, table(['TIMES', 'CONVERSATIONS', 'LAST', 'SKILL', 'ITS WORDS THAT FITTED'], rows), MCP]);
  }
  const { loads, offers, resources, refusals, failures, tokens } = totals;
  const fewer = failuresSince > since ? `, both since ${failuresSince.slice(0, 10)}` : '';
  const isWide = width === undefined || width >= WIDE;
  const skills = report.skills.map((one) => {
    const rare = isWide ? [one.resources, one.refusals, one.failures, one.agents] : [];
    return [one.loads, one.offers, one.notTaken, one.tokens, ...rare, dayOf(one.lastLoad), one.skillId];
  });
  const files = (report.files ?? []).map(({ path, reads }) => [reads, path]);
  const unread = report.unread.map((one) => [one.loads, one.references, one.skillId]);
  const said = report.outcomes.map((one) => [
    one.helped,
    one.didNot,
    one.revision ?? '-',
    dayOf(one.since),
    one.skillId,
  ]);
  const agents = report.agents.map((one) => [one.loads, one.offers, one.tokens, one.failures, one.agent ?? NO_NAME]);
  const threads = report.threads.map((one) => [one.tokens, dayOf(one.last), one.agent ?? NO_NAME, one.thread]);
  const failing = report.failing.map((one) => [one.count, one.code, one.skillId]);
  return paragraphs([
    [
      period,
      `${plural(loads, 'load')}, ${plural(resources, 'file')}, ${plural(tokens, 'token')}`,
      `${plural(offers, 'offer')}, ${plural(refusals, 'refusal')}, ${plural(failures, 'failure')}${fewer}`,
      dead.length > 0 ? `${plural(dead.length, 'skill')} not loaded: --dead lists them` : 'Every skill was loaded',
    ].join('\n'),
    table(['LOADS', 'OFFERED', 'NOT TAKEN', 'TOKENS', ...(isWide ? RARE : []), 'LAST LOAD', 'SKILL'], skills),
    table(['READS', 'FILE'], files),
    table(['LOADS', 'REFERENCES, NONE READ', 'SKILL'], unread),
    table(['HELPED', 'DID NOT', 'REV', 'SINCE', 'SKILL'], said),
    table(['LOADS', 'OFFERED', 'TOKENS', 'FAILED', 'AGENT'], agents),
    table(['TOKENS', 'LAST LOAD', 'AGENT', 'CONVERSATION'], threads),
    table(['TIMES', 'WHAT FAILS', 'SKILL'], failing),
  ]);
}

const NO_NAME = '(without a name)';
const MCP = 'Over MCP only list_skills with a query is counted: no client tells a server what its user has asked.';
const RARE = ['FILES', 'REFUSED', 'FAILED', 'AGENTS'];

function paragraphs(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

function assertKnown(skillId: string, { skills, failing }: UsageReport, { registry }: OpenRegistry): void {
  const { byId, byQualifiedId } = registry.snapshot();
  if (byId.has(skillId) || byQualifiedId.has(skillId) || skills.length > 0 || failing.length > 0) return;
  const near = nearestText(nearestIds(byId.keys(), skillId));
  throw new CodedError('SKILL_NOT_FOUND', `Nothing is recorded of a skill ${JSON.stringify(skillId)}.${near}`);
}

function dayOf(time: string | null): string {
  return time?.slice(0, 10) ?? 'never';
}
