import { isDeepStrictEqual } from 'node:util';
import type { Proposal, SkillRegistry } from 'skill-registry';
import { CodedError } from 'skill-registry/kernel';
import { shownProposal } from '../../../extensions/skill_registry/evaluate/describe.ts';
import type { Actor, DecidedProposal, Finding } from '../../../extensions/skill_registry/host.ts';
import { describeBlockFindings, subjectOf, undoText } from '../../../extensions/skill_registry/propose/describe.ts';
import { forTerminal, printable } from '../../../lib/text/index.ts';
import { heldText } from '../../held-text.ts';
import { openRegistry } from '../../open-registry.ts';
import {
  actorOf,
  blockNotConfirmed,
  type ConfirmedOptions,
  type DecisionOptions,
  EXIT,
  type ExitStatus,
  type GlobalOptions,
  isConfirmed,
  printJson,
  type Terminal,
} from '../../terminal.ts';
import { isWaiting } from './show-proposals.ts';

/** `skill-registry proposals approve <id>`. Approves exactly what was shown. With `--json`: the decision and `diff`. */
export async function approveProposal(
  idOrPart: string,
  options: GlobalOptions & ConfirmedOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const actor = actorOf(options, terminal);
  const { registry } = await openRegistry(options, terminal);
  const proposal = await proposalToDecide(registry, idOrPart, terminal);
  const blocks = await showBlockFindings(registry, proposal, terminal);
  if (blocks.length > 0 && (options.yes || !terminal.ask))
    throw blockNotConfirmed('approves it', `skill-registry proposals approve ${proposal.id}`);
  // Approving a stale or decided proposal fails with a message that says what to do, so the person is not asked.
  const isAsked = proposal.state === 'open' && !options.yes;
  if (isAsked && !(await isAgreed('Approve', proposal, terminal, blocks))) return EXIT.problem;
  const decision = await approveShown(registry, proposal, blocks, actor, terminal);
  if (options.json) printJson(terminal, decisionOnWire(decision, proposal));
  return EXIT.done;
}

/** Shows the findings that would hold the skill after an approval. */
export async function showBlockFindings(
  { admin }: Pick<SkillRegistry, 'admin'>,
  { id }: Proposal,
  terminal: Terminal,
): Promise<readonly Finding[]> {
  const blocks = await admin.blockFindingsAfter({ proposalId: id });
  if (blocks.length > 0) terminal.err(`${describeBlockFindings(blocks)}\n\n`);
  return blocks;
}

/**
 * Approves exactly what was shown, allows the findings that were shown with it, and prints both results.
 *
 * @throws SHOWN_CHANGED for other findings: somebody has changed the skill since, and the approval would be merged with that.
 */
export async function approveShown(
  registry: SkillRegistry,
  { id, version, ...proposal }: Proposal,
  blocks: readonly Finding[],
  actor: Actor,
  terminal: Terminal,
): Promise<DecidedProposal> {
  if (!isDeepStrictEqual(await registry.admin.blockFindingsAfter({ proposalId: id }), blocks)) {
    const message = `What an inspection finds in "${proposal.skillId}" has changed since it was shown. Nothing was decided. Look at it again: skill-registry proposals show ${id}`;
    throw new CodedError('SHOWN_CHANGED', message);
  }
  const decision = await registry.proposals.approve(id, { ...actor, version });
  const heldBecause = await registry.admin.allowShown(decision.skillId, blocks, actor);
  const { proposalId, skillId, revision, merged } = decision;
  const how = merged ? ', merged with later changes' : '';
  terminal.err(`Approved ${proposalId}: ${skillId} has revision ${revision}${how}\n`);
  if (heldBecause !== null) terminal.err(heldText(skillId, heldBecause));
  terminal.err(printable(`${undoText(proposal, revision)}\n`));
  await printReportProblem(registry, proposalId, terminal);
  return decision;
}

/** `skill-registry proposals reject <id> --reason <text>` */
export async function rejectProposal(
  idOrPart: string,
  options: GlobalOptions & ConfirmedOptions & { readonly reason: string },
  terminal: Terminal,
): Promise<ExitStatus> {
  const actor = { ...actorOf(options, terminal), reason: options.reason };
  const { registry } = await openRegistry(options, terminal);
  const proposal = await proposalToDecide(registry, idOrPart, terminal);
  const isAsked = isWaiting(proposal) && !options.yes;
  if (isAsked && !(await isAgreed('Reject', proposal, terminal))) return EXIT.problem;
  const decision = await rejectShown(registry, proposal, actor, terminal);
  if (options.json) printJson(terminal, decisionOnWire(decision, proposal));
  return EXIT.done;
}

/** Rejects exactly what was shown, and prints the decision. */
export async function rejectShown(
  registry: Pick<SkillRegistry, 'proposals'>,
  { id, version }: Proposal,
  actor: Actor & { readonly reason: string },
  terminal: Terminal,
): Promise<DecidedProposal> {
  const decision = await registry.proposals.reject(id, { ...actor, version });
  terminal.err(`Rejected ${decision.proposalId}; its author is shown the reason\n`);
  await printReportProblem(registry, decision.proposalId, terminal);
  return decision;
}

export interface PurgeOptions extends Pick<DecisionOptions, 'by'> {
  readonly rejected?: boolean;
}

/** `skill-registry proposals purge <id...>|--rejected`. With `--json`: `{ purged: [PurgedProposal] }`. */
export async function purgeProposals(
  ids: readonly string[],
  options: GlobalOptions & PurgeOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  if (ids.length > 0 === (options.rejected ?? false))
    throw new CodedError(
      'INVALID_ARGUMENT',
      'Name the proposals to purge, or give --rejected for all that are rejected.',
    );
  const { registry } = await openRegistry(options, terminal);
  // Of a part of an id nobody would see what is purged, and nothing brings it back.
  for (const id of ids) assertWhole(id, (await registry.proposals.get(id)).id);
  const named = options.rejected ? (await registry.proposals.list('rejected')).map(({ id }) => id) : ids;
  const purged = named.length > 0 ? await registry.proposals.purge(named, actorOf(options, terminal)) : [];
  const rows = purged.map(({ proposalId, skillId, ...rest }) => ({
    proposal_id: proposalId,
    skill_id: skillId,
    ...rest,
  }));
  if (options.json) printJson(terminal, { purged: rows });
  for (const { proposal_id, shared } of rows) {
    const kept = shared > 0 ? `; ${shared} of its contents stay, because a revision or another proposal uses them` : '';
    terminal.err(`Purged ${proposal_id}${kept}\n`);
  }
  if (purged.length === 0) terminal.err('No proposal is rejected\n');
  return EXIT.done;
}

/** `, with 2 warning(s)`, and that an approval allows what would hold the skill; empty without either. */
export function withWarnings({ checks }: Proposal, blocks: readonly Finding[]): string {
  const warnings = checks.filter(({ level }) => level !== 'info').length;
  const allowed = blocks.length > 0 ? ', and allow what would be called an attack' : '';
  return `${warnings > 0 ? `, with ${warnings} warning(s)` : ''}${allowed}`;
}

/** Says on standard error what is wrong with the report of a proposal. */
export async function printReportProblem(
  { proposals }: Pick<SkillRegistry, 'proposals'>,
  id: string,
  terminal: Terminal,
): Promise<void> {
  const { problem } = await proposals.get(id);
  if (problem) terminal.err(`${printable(`${problem.code}: ${problem.message}`)}\n`);
}

// --- internal ---

/** Finds the proposal to decide on, and prints it. Without a terminal nobody would see which one a part of an id means. */
async function proposalToDecide(
  { admin, proposals }: Pick<SkillRegistry, 'admin' | 'proposals'>,
  idOrPart: string,
  terminal: Terminal,
): Promise<Proposal> {
  const proposal = await proposals.get(idOrPart);
  const { id } = proposal;
  if (!terminal.ask) assertWhole(idOrPart, id);
  if (isWaiting(proposal))
    terminal.err(`${forTerminal(await shownProposal(admin, proposal), terminal, terminal.progress)}\n\n`);
  return proposal;
}

/** @throws INVALID_ARGUMENT for a part of an id. */
function assertWhole(given: string, id: string): void {
  if (given === id) return;
  const message = `The whole id is required here, and ${JSON.stringify(given)} is a part of ${id}. Read it (skill-registry proposals show ${id}), then give the whole id.`;
  throw new CodedError('INVALID_ARGUMENT', message);
}

/** True when the person agrees, to an attack by typing the id of the skill; also without a terminal, where nobody is asked. */
async function isAgreed(
  action: 'Approve' | 'Reject',
  proposal: Proposal,
  terminal: Terminal,
  blocks: readonly Finding[] = [],
): Promise<boolean> {
  const { id, skillId } = proposal;
  const { ask } = terminal;
  const question = printable(`${action} ${subjectOf(proposal)} (${id})${withWarnings(proposal, blocks)}?`);
  if (!ask || (await isConfirmed({ ask }, question, blocks.length > 0 ? skillId : undefined))) return true;
  terminal.err(`Nothing was decided: ${id} waits\n`);
  return false;
}

function decisionOnWire({ proposalId, state, skillId, ...rest }: DecidedProposal, { diff }: Proposal): object {
  return { proposal_id: proposalId, state, skill_id: skillId, ...rest, diff };
}
