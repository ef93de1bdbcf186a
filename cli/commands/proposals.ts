import type { ProposalState } from 'skill-registry';
import { CodedError } from 'skill-registry/kernel';
import { describeProposal, describeProposals, describeStats } from '../../extensions/skill_registry/host.ts';
import { openRegistry } from '../open-registry.ts';
import {
  actorOf,
  type DecisionOptions,
  EXIT,
  type ExitStatus,
  type GlobalOptions,
  printJson,
  type Terminal,
  widthOf,
} from '../terminal.ts';

/** `skill-registry proposals list`. With `--json`: `{ proposals: [Proposal] }`, as `show --json` gives one. */
export async function listProposals(
  options: GlobalOptions & { readonly state?: ProposalState | 'all' },
  terminal: Terminal,
): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const proposals = await registry.proposals.list(options.state);
  if (options.json) printJson(terminal, { proposals });
  else if (proposals.length > 0) terminal.out(`${describeProposals(proposals, widthOf(terminal))}\n`);
  const which = options.state === undefined ? 'waiting ' : options.state === 'all' ? '' : `${options.state} `;
  terminal.err(`${proposals.length} ${which}proposal(s)\n`);
  return EXIT.done;
}

/** `skill-registry proposals show <id>` */
export async function showProposal(id: string, options: GlobalOptions, terminal: Terminal): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const proposal = await registry.proposals.get(id);
  if (options.json) printJson(terminal, proposal);
  else terminal.out(`${describeProposal(proposal)}\n`);
  return proposal.problem === undefined ? EXIT.done : EXIT.problem;
}

/** `skill-registry proposals approve <id>`. With `--json`: the decision. */
export async function approveProposal(
  id: string,
  options: GlobalOptions & DecisionOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const decision = await registry.proposals.approve(id, actorOf(options, terminal));
  if (options.json) printJson(terminal, decision);
  const { proposal_id, skill_id, revision, merged } = decision;
  const how = merged ? ', merged with what had changed since' : '';
  terminal.err(`Approved ${proposal_id}: ${skill_id} has revision ${revision}${how}\n`);
  return EXIT.done;
}

/** `skill-registry proposals reject <id> --reason <text>` */
export async function rejectProposal(
  id: string,
  options: GlobalOptions & DecisionOptions & { readonly reason: string },
  terminal: Terminal,
): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const decision = await registry.proposals.reject(id, { ...actorOf(options, terminal), reason: options.reason });
  if (options.json) printJson(terminal, decision);
  terminal.err(`Rejected ${decision.proposal_id}; its file is kept\n`);
  return EXIT.done;
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
  const wanted = options.rejected ? (await registry.proposals.list('rejected')).map(({ id }) => id) : ids;
  const purged = wanted.length > 0 ? await registry.proposals.purge(wanted, actorOf(options, terminal)) : [];
  if (options.json) printJson(terminal, { purged });
  for (const { proposal_id, shared } of purged) {
    const kept = shared > 0 ? `; ${shared} of its contents stay, as a revision or another proposal has the same` : '';
    terminal.err(`Purged ${proposal_id}${kept}\n`);
  }
  if (purged.length === 0) terminal.err('No proposal is rejected\n');
  return EXIT.done;
}

/** `skill-registry proposals stats` */
export async function showStats(options: GlobalOptions, terminal: Terminal): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const stats = await registry.proposals.stats();
  if (options.json) printJson(terminal, stats);
  else terminal.out(`${describeStats(stats, widthOf(terminal))}\n`);
  return EXIT.done;
}
