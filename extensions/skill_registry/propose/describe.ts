import { formatTable, printable } from '../../../lib/text/index.ts';
import type { Revision } from '../history/types.ts';
import type { Check } from '../inspect/findings.ts';
import type { Finding } from '../inspect/types.ts';
import type { Proposal, ProposalFigures, ProposalStats } from './types.ts';

/** Proposals as a table; control characters are made visible. @param width - Columns of the terminal. */
export function describeProposals(proposals: readonly Proposal[], width?: number): string {
  const rows = proposals.map(({ id, state, kind, skillId, path, author, created, checks, problem, purged }) => [
    id,
    purged
      ? `${state}, purged`
      : problem
        ? `${state}, ${problem.code === 'WRITE_FAILED' ? 'no report' : 'report edited'}`
        : state,
    kind === 'update' ? `${skillId}/${path}` : `${kind} ${skillId}`,
    author,
    created.slice(0, 16).replace('T', ' '),
    checks.filter(({ level }) => level !== 'info').length,
  ]);
  return formatTable(['PROPOSAL', 'STATE', 'CHANGES', 'BY', 'CREATED', 'WARNINGS'], rows, width);
}

/** One proposal with its diff, its reasons and its checks. @param ran - What the registry ran on it, as texts. */
export function describeProposal(proposal: Proposal, ran: readonly string[] = []): string {
  const { id, state, kind, skillId, source, path, author, model, created, diff, justification, evidence } = proposal;
  const { checks, recommendations, decision, conflict, problem, file, purged } = proposal;
  const decided = decision
    ? ` by ${decision.by} at ${decision.at}${decision.reason ? `: ${decision.reason}` : ''}`
    : '';
  const head = [
    `${id}  ${state}${decided}`,
    `${kind} ${skillId}/${path} (source ${source}), by ${author}${model ? ` with ${model}` : ''}, ${created}`,
  ];
  if (purged) return printable([...head, `Its texts were purged by ${purged.by} at ${purged.at}.`].join('\n'));
  const parts = [
    [...head, file].join('\n'),
    ...(problem ? [problem.message] : []),
    ...(diff ? [diff.trimEnd()] : []),
    `Justification\n${indent(justification)}`,
    ...(evidence === null ? [] : [`Evidence, as its author claims\n${indent(evidence)}`]),
    ...ran,
    `Checks\n${checks.map(({ level, text, line }) => `  ${MARK[level]} ${text}${line ? ` (line ${line})` : ''}`).join('\n')}`,
    ...recommendations.map(({ by, verdict, reason }) => `${by} recommends to ${verdict}\n${indent(reason)}`),
    ...(conflict === null ? [] : [`Conflict\n${indent(conflict)}`]),
  ];
  return printable(parts.join('\n\n'));
}

/** Findings, one below the other; control characters are made visible. */
export function describeFindings(findings: readonly Finding[]): string {
  const texts = findings.map(({ rule, level, file, line, excerpt, message }) => {
    const at = line === undefined ? file : `${file}:${line}`;
    return `${level}  ${rule} in ${at}\n       ${message}${excerpt === '' ? '' : `\n       ${excerpt}`}`;
  });
  return printable(texts.join('\n'));
}

/** The text for a person before approving a change that would be held. */
export function describeBlockFindings(blocks: readonly Finding[]): string {
  return `A person would call this an attack. Approving the change also allows it:\n${describeFindings(blocks)}`;
}

/** The figures of proposals as three tables: all, by agent, by skill. */
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
  const table = (title: string, figures: ProposalStats['byAgent']): string =>
    formatTable(
      [title, ...header.slice(1)],
      Object.entries(figures).map(([name, entry]) => rowOf(name, entry)),
      width,
    );
  return [
    formatTable(header, [rowOf('all', all)], width),
    table('AGENT', byAgent),
    table('SKILL', bySkill),
    'ROLLED BACK: within 30 days of being approved.',
  ].join('\n\n');
}

/** The revisions of a skill as a table, newest first. */
export function describeRevisions(revisions: readonly Revision[], width?: number): string {
  const rows = [...revisions]
    .reverse()
    .map(({ number, at, by, kind, digest, reason, proposal }) => [
      number,
      at.slice(0, 19).replace('T', ' '),
      kind,
      by,
      digest.slice(7, 15),
      [proposal, reason].filter(Boolean).join(': '),
    ]);
  return formatTable(['REVISION', 'WHEN', 'WHAT', 'BY', 'DIGEST', 'WHY'], rows, width);
}

// --- internal ---

const MARK: Readonly<Record<Check['level'], string>> = { block: '!!', warn: '!', info: '-' };

function indent(text: string): string {
  return text.replace(/^/gm, '  ').trimEnd();
}

function hours(value: number): string {
  if (value < 1) return `${Math.round(value * 60)} min`;
  return value < 48 ? `${value.toFixed(1)} h` : `${(value / 24).toFixed(1)} d`;
}
