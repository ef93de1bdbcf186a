import { isCodedError } from 'skill-registry/kernel';
import type { Options } from '../../../../../lib/command-line/index.ts';
import { forTerminal, plural, toWire } from '../../../../../lib/text/index.ts';
import type { SkillRegistry } from '../../../core/api.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import {
  changesDescription,
  describeOneTaken,
  describeProposals,
  describeStats,
  describeTaken,
  isWaiting,
  riskiestFirst,
} from '../propose/describe.ts';
import type { Proposal, ProposalFigures, ProposalState, ProposalStats } from '../propose/types.ts';

export async function listProposals(
  options: Options & { readonly state?: ProposalState | 'all' },
  terminal: CommandTerminal,
): Promise<void> {
  const { registry } = await terminal.openRegistry(options, { checksArguments: false });
  const listed = await registry.proposals.list(options.state);
  const proposals = options.state === undefined ? riskiestFirst(listed) : listed;
  const { proposals: all, away } = await registry.admin.takenProposals();
  const { state: wanted = ['waiting', 'open', 'stale'] } = options;
  const taken = all.filter(({ state }) => wanted === 'all' || wanted.includes(state));
  const elsewhere = { elsewhere: taken.map(toWire), sources_away: away };
  terminal.print({ proposals: proposals.map(onWire), ...(all.length + away.length > 0 && elsewhere) }, () =>
    [
      ...(proposals.length > 0 ? [describeProposals(proposals, terminal.width)] : []),
      ...(taken.length > 0 ? [describeTaken(taken, terminal.width)] : []),
    ].join('\n\n'),
  );
  const which = options.state === undefined ? 'waiting ' : options.state === 'all' ? '' : `${options.state} `;
  const next =
    options.state === undefined && proposals.length > 0
      ? '. To decide: skill-registry proposals review, or in a browser: skill-registry review'
      : '';
  terminal.say(`${plural(proposals.length, `${which}proposal`)}${next}`);
  if (taken.length > 0) terminal.say(`${plural(taken.length, `${which}proposal`)} where others decide`);
  for (const source of away) terminal.say(`${source} does not answer: what it has is not listed.`);
  for (const proposal of proposals) sayReportProblem(proposal, terminal);
}

export async function showProposal(
  id: string,
  options: Options & { readonly proposed?: boolean },
  terminal: CommandTerminal,
): Promise<void> {
  const { registry } = await terminal.openRegistry(options, { checksArguments: false });
  const proposal = await registry.proposals.get(id).catch((error: unknown) => {
    if (isCodedError(error, 'PROPOSAL_ELSEWHERE')) return undefined;
    throw error;
  });
  if (!proposal) {
    const taken = (await registry.admin.takenProposals()).proposals.find((one) => one.id === id);
    if (taken) terminal.print(toWire(taken), () => forTerminal(describeOneTaken(taken), terminal, terminal.terminal));
  } else if (options.proposed) {
    const { proposalId, path, content, version } = await registry.proposals.text(proposal.id);
    if (options.json) terminal.print({ proposal_id: proposalId, path, content, version });
    else terminal.write(content);
  } else if (options.json) {
    const found = terminal.features.map(({ ranFor }) => (isWaiting(proposal) ? ranFor?.(registry, proposal.id) : null));
    const { reaches = '' } = await registry.admin.blockFindingsAfter({ proposalId: proposal.id });
    terminal.print({ ...onWire(proposal), reaches, ran: (await Promise.all(found)).find(Boolean) ?? null });
  } else {
    terminal.out(`${forTerminal(await registry.admin.proposalText(proposal), terminal, terminal.terminal)}\n`);
    if (isWaiting(proposal)) terminal.say(`\n${nextSteps(proposal)}`);
  }
}

export async function showStats(options: Options, terminal: CommandTerminal): Promise<void> {
  const { registry } = await terminal.openRegistry(options, { checksArguments: false });
  const stats = await registry.proposals.stats();
  terminal.print(statsOnWire(stats), () => describeStats(stats, terminal.width));
}

export function sayReportProblem({ problem }: Proposal, { say }: CommandTerminal): void {
  if (problem) say(`${problem.code}: ${problem.message}`);
}

declare module '../../../core/command-line.ts' {
  interface FeatureCommands {
    /** What it ran on a proposal that waits, for `--json`. */
    ranFor?(registry: SkillRegistry, proposalId: string): Promise<unknown>;
  }
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

function statsOnWire({ all, byAgent, bySkill }: ProposalStats): object {
  const figuresOnWire = ({ rolledBackWithin30Days, ...figures }: ProposalFigures): object => ({
    ...toWire(figures),
    rolled_back_within_30_days: rolledBackWithin30Days,
  });
  const each = (figures: ProposalStats['byAgent']): object =>
    Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, figuresOnWire(figure)]));
  return { all: figuresOnWire(all), by_agent: each(byAgent), by_skill: each(bySkill) };
}
