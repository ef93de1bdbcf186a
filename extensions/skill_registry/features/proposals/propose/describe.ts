import { formatTable, printable } from '../../../../../lib/text/index.ts';
import { byRisk, countsOf } from '../../guard/by-risk.ts';
import type { InspectedChange } from '../../history/types.ts';
import type { Check } from '../checks/checks.ts';
import type { Proposal, ProposalFigures, ProposalStats, TakenProposal } from './types.ts';

/**
 * Adding or removing a whole skill counts more than a change of its words. Of equal ones the oldest comes first, and
 * those of one skill stand together, where the riskiest of them does. What is stale comes last.
 */
export function riskiestFirst(proposals: readonly Proposal[]): readonly Proposal[] {
  const sorted = byRisk(proposals, ({ checks, kind, created, state }) => [
    Number(state !== 'stale'),
    ...countsOf(checks),
    KINDS.indexOf(kind),
    -Date.parse(created),
  ]);
  const first = new Map([...sorted.entries()].reverse().map(([at, { skillId }]) => [skillId, at]));
  return sorted.toSorted((one, other) => (first.get(one.skillId) ?? 0) - (first.get(other.skillId) ?? 0));
}

/** Least risky first. */
const KINDS: readonly Proposal['kind'][] = ['update', 'create', 'delete'];

/** @param width - Columns of the terminal, where ids are cut to their end. Default: everything. */
export function describeProposals(proposals: readonly Proposal[], width?: number): string {
  const [hasAuthor, hasTime] = [50, 80].map((from) => width === undefined || width >= from);
  const idOf = width === undefined ? (id: string): string => id : shortIds(proposals.map(({ id }) => id));
  const rows = proposals.map((proposal) => {
    const { id, kind, skillId, path, author, created } = proposal;
    const change = `${skillId}/${path}${changesDescription(proposal) ? ' (description)' : ''}`;
    const by = [...(hasAuthor ? [author] : []), ...(hasTime ? [created.slice(0, 16).replace('T', ' ')] : [])];
    const what = kind === 'update' ? change : `${kind} ${skillId}`;
    return [idOf(id), stateOf(proposal), what, ...by, warningsOf(proposal)];
  });
  const by = [...(hasAuthor ? ['BY'] : []), ...(hasTime ? ['CREATED'] : [])];
  return formatTable(['PROPOSAL', 'STATE', 'CHANGES', ...by, 'WARNINGS'], rows, width);
}

/** Those about which others decide. */
export function describeTaken(taken: readonly TakenProposal[], width?: number): string {
  const rows = taken.map(({ id, state, skillId, author = '', where }) => [id, state, skillId, author, where]);
  return formatTable(['PROPOSAL', 'STATE', 'SKILL', 'AUTHOR', 'WHERE PEOPLE DECIDE'], rows, width);
}

export function describeOneTaken(taken: TakenProposal): string {
  const { id, state, skillId, author, where, message, decidedBy, reason, diff, justification } = taken;
  const decided = decidedBy ? ` by ${decidedBy}${reason ? `: ${reason}` : ''}` : '';
  const parts = [
    `${id}  ${state}${decided}\n${skillId}${author ? `, by ${author}` : ''}. People decide at ${where}`,
    ...(message ? [message] : []),
    ...(diff ? [diff.trimEnd()] : []),
    ...(justification ? [`Justification\n${indent(justification)}`] : []),
  ];
  return printable(parts.join('\n\n'));
}

export function changesDescription({ checks }: Pick<Proposal, 'checks'>): boolean {
  return checks.some(({ kind }) => kind === 'description');
}

/** Names of people are not recorded. */
export function agentOf(by: string | undefined): string | undefined {
  return by?.startsWith('agent:') ? by.slice('agent:'.length) : undefined;
}

export function isWaiting({ state }: Pick<Proposal, 'state'>): boolean {
  return state === 'open' || state === 'stale';
}

/** For a question: `the change of tea/SKILL.md`. */
export function subjectOf({ kind, skillId, path }: Pick<Proposal, 'kind' | 'skillId' | 'path'>): string {
  return {
    update: `the change of ${skillId}/${path}`,
    create: `the new skill ${skillId}`,
    delete: `the removal of ${skillId}`,
  }[kind];
}

/** @param ran - What the registry ran on it. @param reaches - As `InspectedChange.reaches`. */
export function describeProposal(proposal: Proposal, ran?: string | null, reaches?: string): string {
  const { id, state, kind, skillId, source, path, author, model, created, diff, justification, evidence } = proposal;
  const { checks, recommendations, decision, conflict, problem, file, purged } = proposal;
  const reason = decision?.reason ? `: ${decision.reason}` : '';
  const decided = decision ? ` by ${decision.by} at ${decision.at}${reason}` : '';
  const what = kind === 'update' ? `${skillId}/${path}` : skillId;
  const head = [
    `${id}  ${state}${decided}`,
    `${kind} ${what} from the source "${source}", by ${author}${model ? ` with ${model}` : ''}, ${created}`,
  ];
  const found = checks.map(({ level, text, line }) => `  ${MARK[level]} ${text}${line ? ` (line ${line})` : ''}`);
  if (purged) return printable([...head, `Its texts were purged by ${purged.by} at ${purged.at}.`].join('\n'));
  const parts = [
    [...head, `Report: ${file}`].join('\n'),
    ...(problem ? [problem.message] : []),
    ...(reaches ? [reaches] : []),
    ...(diff ? [diff.trimEnd()] : []),
    ...(kind === 'delete' && !decision ? [`What would go: skill-registry show ${skillId}`] : []),
    `Justification\n${indent(justification)}`,
    ...(evidence === null ? [] : [`Evidence, as its author claims\n${indent(evidence)}`]),
    ...(ran ? [ran] : []),
    [`Checks (${LEGEND})`, ...found].join('\n'),
    ...recommendations.map(({ by, verdict, reason }) => `${by} recommends to ${verdict}\n${indent(reason)}`),
    ...(conflict === null ? [] : [`Conflict\n${indent(conflict)}`]),
  ];
  return printable(parts.join('\n\n'));
}

/** Where something was found, only the very files that a person was shown are written. */
export function isAsShown(now: InspectedChange, shown: InspectedChange): boolean {
  return now.blocks.length === 0 ? shown.blocks.length === 0 : now.digest === shown.digest;
}

export function undoText({ kind, skillId }: Pick<Proposal, 'kind' | 'skillId'>, revision: number | null): string {
  if (kind === 'create') return `To undo it: skill-registry remove ${skillId}`;
  if (kind === 'delete') return `To undo it: skill-registry rollback ${skillId}`;
  return `To undo it: skill-registry rollback ${skillId} ${revision === null || revision < 2 ? 'REVISION' : revision - 1}`;
}

export function describeStats({ all, byAgent, bySkill }: ProposalStats, width?: number): string {
  const rowOf = (name: string, figures: ProposalFigures) => [
    name,
    figures.open + figures.stale,
    figures.approved,
    figures.rejected,
    figures.acceptanceRate === null ? '-' : `${Math.round(figures.acceptanceRate * 100)} %`,
    figures.hoursToDecision === null ? '-' : hours(figures.hoursToDecision.median),
    figures.rolledBackWithin30Days,
  ];
  const header = ['', 'WAITING', 'APPROVED', 'REJECTED', 'ACCEPTED', 'MEDIAN TIME', 'ROLLED BACK'];
  const table = (title: string, figures: ProposalStats['byAgent']): string => {
    const rows = Object.entries(figures).map(([name, entry]) => rowOf(name, entry));
    return formatTable([title, ...header.slice(1)], rows, width);
  };
  return [
    formatTable(header, [rowOf('all', all)], width),
    table('AGENT', byAgent),
    table('SKILL', bySkill),
    'ROLLED BACK: within 30 days of being approved.',
  ].join('\n\n');
}

// --- internal ---

const MARK: Readonly<Record<Check['level'], string>> = { block: '!!', warn: '!', info: '-' };
const LEGEND = '!! looks like an attack, ! a warning, - a note';

function stateOf({ state, problem, purged }: Proposal): string {
  if (purged) return `${state}, purged`;
  if (!problem) return state;
  return `${state}, ${problem.code === 'WRITE_FAILED' ? 'no report' : 'report edited'}`;
}

function warningsOf({ checks }: Proposal): string | number {
  const count = checks.filter(({ level }) => level !== 'info').length;
  return checks.some(({ level }) => level === 'block') ? `${count}, attack` : count;
}

/** The shortest unique ends, of at least six characters. */
function shortIds(ids: readonly string[]): (id: string) => string {
  let length = 6;
  const most = Math.max(0, ...ids.map((id) => id.length));
  while (length < most && new Set(ids.map((id) => id.slice(-length))).size < new Set(ids).size) length += 1;
  return (id) => id.slice(-length);
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ').trimEnd();
}

function hours(value: number): string {
  if (value < 1) return `${Math.round(value * 60)} min`;
  return value < 48 ? `${value.toFixed(1)} h` : `${(value / 24).toFixed(1)} d`;
}
