import type { Proposal } from 'skill-registry';
import {
  changesDescription,
  describeProposals,
  describeStats,
} from '../../../extensions/skill_registry/features/proposals/propose/describe.ts';
import type {
  ProposalEvidence,
  ProposalFigures,
  ProposalState,
  ProposalStats,
} from '../../../extensions/skill_registry/host.ts';
import { forTerminal, toWireDeep } from '../../../lib/text/index.ts';
import { openRegistry } from '../../open-registry.ts';
import type { Options, Terminal } from '../../terminal.ts';

export async function listProposals(
  options: Options & { readonly state?: ProposalState | 'all' },
  terminal: Terminal,
): Promise<void> {
  const { registry } = await openRegistry(options, terminal, { checksArguments: false });
  const proposals = await registry.proposals.list(options.state);
  terminal.print({ proposals: proposals.map(onWire) }, () =>
    proposals.length > 0 ? describeProposals(proposals, terminal.width) : '',
  );
  const which = options.state === undefined ? 'waiting ' : options.state === 'all' ? '' : `${options.state} `;
  const next =
    options.state === undefined && proposals.length > 0
      ? '. To decide: skill-registry proposals review, or in a browser: skill-registry review'
      : '';
  terminal.say(`${proposals.length} ${which}proposal(s)${next}`);
  for (const proposal of proposals) sayReportProblem(proposal, terminal);
}

export async function showProposal(
  id: string,
  options: Options & { readonly proposed?: boolean },
  terminal: Terminal,
): Promise<void> {
  const { registry } = await openRegistry(options, terminal, { checksArguments: false });
  const proposal = await registry.proposals.get(id);
  if (options.proposed) {
    const { proposalId, path, content, version } = await registry.proposals.text(proposal.id);
    if (options.json) terminal.print({ proposal_id: proposalId, path, content, version });
    else terminal.write(content);
  } else if (options.json) {
    const ran = isWaiting(proposal) ? await registry.admin.proposalEvidence(proposal.id) : null;
    terminal.print({ ...onWire(proposal), ran: ran && ranOnWire(ran) });
  } else {
    terminal.out(`${forTerminal(await registry.admin.proposalText(proposal), terminal, terminal.terminal)}\n`);
    if (isWaiting(proposal)) terminal.say(`\n${nextSteps(proposal)}`);
  }
}

export async function showStats(options: Options, terminal: Terminal): Promise<void> {
  const { registry } = await openRegistry(options, terminal, { checksArguments: false });
  const stats = await registry.proposals.stats();
  terminal.print(statsOnWire(stats), () => describeStats(stats, terminal.width));
}

export function isWaiting({ state }: Proposal): boolean {
  return state === 'open' || state === 'stale';
}

export function sayReportProblem({ problem }: Proposal, { say }: Terminal): void {
  if (problem) say(`${problem.code}: ${problem.message}`);
}

// --- internal ---

function nextSteps({ id, state, editable }: Proposal): string {
  const steps = [
    ...(state === 'open' ? [`skill-registry proposals approve ${id}`] : []),
    `skill-registry proposals reject ${id} --reason <text>`,
    ...(editable ? [`skill-registry proposals edit ${id}`] : []),
  ];
  const why = state === 'stale' ? 'It does not apply any more, so it cannot be approved as it is. ' : '';
  return `${why}To decide:\n${steps.map((step) => `  ${step}`).join('\n')}`;
}

function onWire({ id, state, kind, skillId, ...rest }: Proposal): object {
  return { id, state, kind, skill_id: skillId, changes_description: changesDescription(rest), ...rest };
}

/** Results that the registry measured. `evidence` of a proposal is only what its author claims. */
function ranOnWire({ before, after, notRun, changes, takenOver }: ProposalEvidence): unknown {
  return toWireDeep({ before, after, notRun, changes, takenOver });
}

function statsOnWire({ all, byAgent, bySkill }: ProposalStats): object {
  const figuresOnWire = ({
    acceptanceRate,
    hoursToDecision,
    rolledBackWithin30Days,
    ...counts
  }: ProposalFigures): object => ({
    ...counts,
    acceptance_rate: acceptanceRate,
    hours_to_decision: hoursToDecision,
    rolled_back_within_30_days: rolledBackWithin30Days,
  });
  const each = (figures: ProposalStats['byAgent']): object =>
    Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, figuresOnWire(figure)]));
  return { all: figuresOnWire(all), by_agent: each(byAgent), by_skill: each(bySkill) };
}
