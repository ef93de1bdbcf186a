import { CodedError } from 'skill-registry/kernel';
import {
  actorOf,
  EXIT,
  type ExitStatus,
  invalidArgument,
  type Options,
} from '../../../../../lib/command-line/index.ts';
import { plural, printable, toWire } from '../../../../../lib/text/index.ts';
import type { SkillRegistry } from '../../../core/api.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import type { Finding } from '../../../core/skill/guard.ts';
import { blockNotConfirmed, isConfirmedWithId, sayHeld } from '../../guard/commands/confirm.ts';
import { describeBlockFindings } from '../../guard/describe.ts';
import type { Actor, InspectedChange } from '../../history/types.ts';
import { isAsShown, isWaiting, subjectOf, undoText } from '../propose/describe.ts';
import type { DecidedProposal, Proposal } from '../propose/types.ts';
import { sayReportProblem } from './show-proposals.ts';

export async function approveProposal(
  idOrPart: string,
  options: Options,
  terminal: CommandTerminal,
): Promise<ExitStatus> {
  const actor = actorOf(options, terminal);
  const { registry } = await terminal.openRegistry(options);
  const proposal = await proposalToDecide(registry, idOrPart, terminal);
  const shown = await showBlockFindings(registry, proposal, terminal);
  const { blocks } = shown;
  if (blocks.length > 0 && (options.yes || !terminal.ask))
    throw blockNotConfirmed('approves it', `skill-registry proposals approve ${proposal.id}`);
  // Approving a stale or decided proposal throws an error that says what to do: asking first would be useless.
  const isAsked = proposal.state === 'open' && !options.yes;
  if (isAsked && !(await isAgreed('Approve', proposal, terminal, blocks))) return EXIT.problem;
  const decision = await approveShown(registry, proposal, shown, actor, terminal);
  terminal.print({ ...toWire(decision), diff: proposal.diff });
  return EXIT.done;
}

export async function showBlockFindings(
  { admin }: SkillRegistry,
  { id }: Proposal,
  { say }: CommandTerminal,
): Promise<InspectedChange> {
  const inspected = await admin.blockFindingsAfter({ proposalId: id });
  if (inspected.blocks.length > 0) say(`${describeBlockFindings(inspected.blocks)}\n`);
  return inspected;
}

/**
 * Approves the shown version and allows the findings that were shown with it.
 * @throws SHOWN_CHANGED when somebody changed the skill, and the inspection finds or found something.
 */
export async function approveShown(
  registry: SkillRegistry,
  { id, version, ...proposal }: Proposal,
  shown: InspectedChange,
  actor: Actor,
  terminal: CommandTerminal,
): Promise<DecidedProposal> {
  const change = { proposalId: id };
  const now = await registry.admin.blockFindingsAfter(change);
  if (!isAsShown(now, shown)) {
    const message = `What an inspection finds in "${proposal.skillId}" has changed since it was shown. Nothing was decided. Look at it again: skill-registry proposals show ${id}`;
    throw new CodedError('SHOWN_CHANGED', message);
  }
  const decision = await registry.proposals.approve(id, { ...actor, version, inspected: now.digest });
  const { proposalId, skillId, revision, merged } = decision;
  const heldBecause = await registry.admin.allowShown(change, now, actor);
  const how = merged ? ', merged with later changes' : '';
  terminal.say(`Approved ${proposalId}: ${skillId} has revision ${revision}${how}`);
  sayHeld(skillId, heldBecause, terminal);
  terminal.say(undoText(proposal, revision));
  sayReportProblem(await registry.proposals.get(proposalId), terminal);
  return decision;
}

export async function rejectProposal(
  idOrPart: string,
  options: Options & { readonly reason: string },
  terminal: CommandTerminal,
): Promise<ExitStatus> {
  const { by } = actorOf(options, terminal);
  const { registry } = await terminal.openRegistry(options);
  const proposal = await proposalToDecide(registry, idOrPart, terminal);
  const isAsked = isWaiting(proposal) && !options.yes;
  if (isAsked && !(await isAgreed('Reject', proposal, terminal))) return EXIT.problem;
  const decision = await rejectShown(registry, proposal, { by, reason: options.reason }, terminal);
  terminal.print({ ...toWire(decision), diff: proposal.diff });
  return EXIT.done;
}

export async function rejectShown(
  { proposals }: SkillRegistry,
  { id, version }: Proposal,
  actor: Actor & { readonly reason: string },
  terminal: CommandTerminal,
): Promise<DecidedProposal> {
  const decision = await proposals.reject(id, { ...actor, version });
  terminal.say(`Rejected ${decision.proposalId}; its author is shown the reason`);
  sayReportProblem(await proposals.get(decision.proposalId), terminal);
  return decision;
}

export async function purgeProposals(
  ids: readonly string[],
  options: Options & { readonly rejected?: boolean },
  terminal: CommandTerminal,
): Promise<void> {
  if (ids.length > 0 === (options.rejected ?? false))
    throw invalidArgument('Name the proposals to purge, or give --rejected for all that are rejected.');
  const { registry } = await terminal.openRegistry(options);
  // Requires whole ids: a part of an id does not show what is purged, and a purge cannot be undone.
  for (const id of ids) assertWhole(id, (await registry.proposals.get(id)).id);
  const named = options.rejected ? (await registry.proposals.list('rejected')).map(({ id }) => id) : ids;
  const purged = named.length > 0 ? await registry.proposals.purge(named, actorOf(options, terminal)) : [];
  terminal.print({ purged: purged.map(toWire) });
  for (const { proposalId, shared } of purged) {
    const kept = shared > 0 ? `; ${shared} of its contents stay, because a revision or another proposal uses them` : '';
    terminal.say(`Purged ${proposalId}${kept}`);
  }
  if (purged.length === 0) terminal.say('No proposal is rejected');
}

/** Ends the question: the number of warnings, and that an approval also allows these findings. */
export function withWarnings({ checks }: Proposal, blocks: readonly Finding[]): string {
  const warnings = checks.filter(({ level }) => level !== 'info').length;
  const allowed = blocks.length > 0 ? ', although it looks like an attack' : '';
  return `${warnings > 0 ? `, with ${plural(warnings, 'warning')}` : ''}${allowed}`;
}

// --- internal ---

/** Prints the proposal if it waits. Without a terminal it requires the whole id, because nobody can check the match. */
async function proposalToDecide(
  registry: SkillRegistry,
  idOrPart: string,
  terminal: CommandTerminal,
): Promise<Proposal> {
  const proposal = await registry.proposals.get(idOrPart);
  if (!terminal.ask) assertWhole(idOrPart, proposal.id);
  if (isWaiting(proposal)) terminal.err(`${await registry.admin.proposalText(proposal)}\n\n`);
  return proposal;
}

function assertWhole(given: string, id: string): void {
  if (given === id) return;
  throw invalidArgument(
    `The whole id is required here, and ${JSON.stringify(given)} is a part of ${id}. Read it (skill-registry proposals show ${id}), then give the whole id.`,
  );
}

/** Attacks are confirmed by typing the id of the skill. Without a terminal nobody is asked: true. */
async function isAgreed(
  action: 'Approve' | 'Reject',
  proposal: Proposal,
  { ask, say }: CommandTerminal,
  blocks: readonly Finding[] = [],
): Promise<boolean> {
  const { id, skillId } = proposal;
  const question = printable(`${action} ${subjectOf(proposal)} (${id})${withWarnings(proposal, blocks)}?`);
  if (!ask || (await isConfirmedWithId({ ask }, question, blocks.length > 0 ? skillId : undefined))) return true;
  say(`Nothing was decided: ${id} waits`);
  return false;
}
