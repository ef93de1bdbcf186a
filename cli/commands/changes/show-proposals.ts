import type { Proposal } from 'skill-registry';
import { shownProposal } from '../../../extensions/skill_registry/evaluate/describe.ts';
import type {
  ProposalEvidence,
  ProposalFigures,
  ProposalState,
  ProposalStats,
} from '../../../extensions/skill_registry/host.ts';
import {
  changesDescription,
  describeProposals,
  describeStats,
} from '../../../extensions/skill_registry/propose/describe.ts';
import { forTerminal, printable, toWireDeep } from '../../../lib/text/index.ts';
import { openRegistry } from '../../open-registry.ts';
import { EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal, widthOf } from '../../terminal.ts';

/** `skill-registry proposals list`. With `--json`: `{ proposals: [Proposal] }`, each as `show --json` prints it. */
export async function listProposals(
  options: GlobalOptions & { readonly state?: ProposalState | 'all' },
  terminal: Terminal,
): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const proposals = await registry.proposals.list(options.state);
  if (options.json) printJson(terminal, { proposals: proposals.map(onWire) });
  else if (proposals.length > 0) terminal.out(`${describeProposals(proposals, widthOf(terminal))}\n`);
  const which = options.state === undefined ? 'waiting ' : options.state === 'all' ? '' : `${options.state} `;
  const next =
    options.state === undefined && proposals.length > 0
      ? '. To decide: skill-registry proposals review, or in a browser: skill-registry review'
      : '';
  terminal.err(`${proposals.length} ${which}proposal(s)${next}\n`);
  for (const { problem } of proposals)
    if (problem) terminal.err(`${printable(`${problem.code}: ${problem.message}`)}\n`);
  return EXIT.done;
}

/** `skill-registry proposals show <id>`. With `--proposed`: prints only the proposed text. */
export async function showProposal(
  id: string,
  options: GlobalOptions & { readonly proposed?: boolean },
  terminal: Terminal,
): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  if (options.proposed) {
    const { id: whole } = await registry.proposals.get(id);
    const { proposalId, path, content, version } = await registry.proposals.text(whole);
    if (options.json) printJson(terminal, { proposal_id: proposalId, path, content, version });
    else terminal.out(terminal.terminal ? printable(content) : content);
    return EXIT.done;
  }
  const proposal = await registry.proposals.get(id);
  if (options.json) {
    const ran = isWaiting(proposal) ? await registry.admin.proposalEvidence(proposal.id) : null;
    printJson(terminal, { ...onWire(proposal), ran: ran && ranOnWire(ran) });
  } else {
    terminal.out(`${forTerminal(await shownProposal(registry.admin, proposal), terminal, terminal.terminal)}\n`);
    if (isWaiting(proposal)) terminal.err(`\n${printable(nextSteps(proposal))}\n`);
  }
  return EXIT.done;
}

/** `skill-registry proposals stats` */
export async function showStats(options: GlobalOptions, terminal: Terminal): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const stats = await registry.proposals.stats();
  if (options.json) printJson(terminal, statsOnWire(stats));
  else terminal.out(`${describeStats(stats, widthOf(terminal))}\n`);
  return EXIT.done;
}

/** Whether a person still has to decide about it. */
export function isWaiting({ state }: Proposal): boolean {
  return state === 'open' || state === 'stale';
}

// --- internal ---

/** What a person can do with a proposal that waits. */
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

/** Results of test cases that the registry ran. The `evidence` of the proposal is only what its author claims. */
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
