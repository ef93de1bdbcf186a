import { CodedError, isCodedError } from 'skill-registry/kernel';
import { type Schema, schema } from '../../../../lib/arguments/index.ts';
import { plural } from '../../../../lib/text/index.ts';
import { frozen } from '../../core/catalog/snapshot.ts';
import { aFunction, by, storedText, text, texts, turn, words } from '../../core/checked-calls.ts';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import type { SkillSource } from '../../core/sources/source.ts';
import { heldForPerson } from '../guard/by-risk.ts';
import { guard } from '../guard/door.ts';
import { type HistoryPart, history } from '../history/door.ts';
import { writeDenied } from '../history/errors.ts';
import type { OpenChanges } from '../history/open-changes.ts';
import type { TakenProposals } from './api.ts';
import { commands } from './commands/index.ts';
import { arrivalText, proposalsCommand } from './conversation.ts';
import type { OpenProposals, ProposalEvidence } from './decide/proposals.ts';
import { approval, opinion, proposalEdit, proposalFilter, proposalInput } from './propose/arguments.ts';
import { agentOf, describeProposal, isWaiting, riskiestFirst } from './propose/describe.ts';
import type { Proposal, Proposals } from './propose/types.ts';
import { createSkillTool, listProposalsTool, mayPropose, NO_PROPOSALS, proposeSkillUpdateTool } from './tools.ts';

export interface ProposalsPart {
  /** As `run` of the history. */
  run<Result>(work: (proposals: OpenProposals, open: OpenChanges) => Result | Promise<Result>): Promise<Result>;
  /** Of the one feature that has some. */
  hasEvidence(evidence: ProposalEvidence): void;
}

/** Changes that agents ask for, and what people decide about them. Needs the history and the guard. */
export const proposals: Feature<ProposalsPart> = {
  id: 'proposals',
  config: {
    tools: [
      { name: 'propose_skill_update', isDefault: true },
      { name: 'list_proposals', isDefault: true },
      { name: 'create_skill' },
    ],
  },
  open,
  commands: async () => commands,
};

// --- internal ---

type ArrivalListener = (proposal: Proposal) => void;

function open(core: Core): Opened<ProposalsPart> {
  const { heldSkills } = core.of(guard);
  const changes = core.of(history);
  const listeners = new Set<ArrivalListener>();
  let evidence: ProposalEvidence | undefined;
  let opened: OpenProposals | undefined;
  // `open` has set it before any work begins.
  const run: ProposalsPart['run'] = (work) => changes.run((changed) => work(opened as OpenProposals, changed));
  changes.join(async () => {
    const { conflictProposals } = await import('./propose/propose.ts');
    const { writeDueReports } = await import('./propose/reports.ts');
    const { noteApproved } = await import('./decide/decide.ts');
    const { createProposals } = await import('./decide/proposals.ts');
    return {
      onCommit: noteApproved,
      catchUp: writeDueReports,
      conflicts: conflictProposals,
      open: (context) => {
        opened = createProposals(context, listeners, evidence?.retrievalEffect);
      },
      announce: () => opened?.announce(),
    };
  });
  changes.judged.add({
    has: (change) => 'proposalId' in change,
    filesAfter: async (change) =>
      'proposalId' in change ? run((now) => now.filesAfter(change.proposalId)) : undefined,
    skillOf: async (change) => ('proposalId' in change ? run((now) => now.skillOf(change.proposalId)) : undefined),
  });
  const registered = proposalFunctions(core, changes, run, listeners);
  const waitingProposals = async (): Promise<number> => {
    core.assertOpen();
    return changes.waitingProposals();
  };
  return {
    part: {
      run,
      hasEvidence: (given) => {
        evidence = given;
      },
    },
    registry: { proposals: registered },
    admin: {
      async waiting() {
        core.assertOpen();
        const skills = core.catalog.snapshot().byQualifiedId.values();
        const held = await heldForPerson(skills, (skill) => heldSkills.trustOf(skill));
        // A damaged history does not hide what else waits.
        let unreadable: string | null = null;
        const waiting = await run((now) => now.list()).catch((error: unknown) => {
          if (!isCodedError(error)) throw error;
          unreadable = error.message;
          return [];
        });
        return { proposals: riskiestFirst(waiting), unreadable, held };
      },
      waitingProposals,
      takenProposals: core.call.later('admin.takenProposals(agentId, skillId)', [words, words], async (...given) =>
        takenProposals(core.catalog.sources(), ...given),
      ),
      proposedFile: core.call.later('admin.proposedFile(proposalId)', [text], (id) => run((now) => now.fileAfter(id))),
      proposalFacts: core.call.later(
        'admin.proposalFacts(proposalId)',
        [text],
        async (id) => (await evidence?.tells(id)) ?? {},
      ),
      plainChange: core.call.later('admin.plainChange(proposalId)', [text], async (id) => {
        const alone = await run((now) => now.whyAlone(id));
        if (alone !== null) return { alone };
        const { blocks, digest, reaches = '' } = await changes.judged.inspectAfter({ proposalId: id });
        if (digest === null || blocks.length > 0) return { alone: 'an inspection finds something in it' };
        return reaches === '' ? { digest } : { alone: reaches };
      }),
      proposalText: core.call.later('admin.proposalText(proposal)', [shownProposal], async (proposal: Proposal) => {
        if (!isWaiting(proposal)) return describeProposal(proposal);
        const ran = await evidence?.shows(proposal.id);
        const { reaches } = await changes.judged.inspectAfter({ proposalId: proposal.id });
        return describeProposal(proposal, ran, reaches);
      }),
    },
    tools: {
      propose_skill_update: proposeSkillUpdateTool,
      list_proposals: listProposalsTool,
      create_skill: createSkillTool,
    },
    // The author of a proposal, who may list only its own.
    servedTools: [
      { name: 'propose_skill_update', needsAgent: true },
      { name: 'list_proposals', needsAgent: true },
      ...(core.config.tools.includes('create_skill') ? [{ name: 'create_skill', needsAgent: true } as const] : []),
    ],
    reviewPages: async () => (await import('./pages/index.ts')).proposalPages,
    commands: (registry) => [proposalsCommand(registry)],
    async news() {
      const count = await waitingProposals();
      return count > 0 ? [`${plural(count, 'proposal')} waiting for a decision: /proposals`] : [];
    },
    connect({ events, notifyUser }) {
      registered.onArrival((proposal) => {
        const { id, kind, skillId: skill_id, path, author, file } = proposal;
        events.emit('proposal_created', { id, kind, skill_id, path, author, file });
        notifyUser(arrivalText(proposal));
      });
    },
  };
}

/** Sources that do not answer are named. */
async function takenProposals(
  sources: readonly SkillSource[],
  agentId?: string,
  skillId?: string,
): Promise<TakenProposals> {
  const away: string[] = [];
  const found = await Promise.all(
    sources.map(async (source) => {
      const taken = await source.taken?.(agentId, skillId);
      if (taken?.isAway) away.push(source.id);
      return taken?.proposals ?? [];
    }),
  );
  return { proposals: found.flat(), away };
}

/** Here nobody decides about it. @throws PROPOSAL_ELSEWHERE. */
async function assertHere(sources: readonly SkillSource[], id: string): Promise<void> {
  const { proposals: taken } = await takenProposals(sources);
  const one = taken.find((given) => given.id === id);
  if (!one) return;
  const message = `${id} is a proposal of the hub ${one.where}: people decide about it there, on its page. Nothing was changed. To see it here: skill-registry proposals show ${id}`;
  throw new CodedError('PROPOSAL_ELSEWHERE', message, { proposal: id, where: one.where });
}

const shownProposal: Schema<Proposal> = schema((z) =>
  z.custom<Proposal>((value) => {
    const { id, diff, checks, recommendations } = Object(value) as Partial<Proposal>;
    return [id, diff].every((one) => typeof one === 'string') && [checks, recommendations].every(Array.isArray);
  }, 'a proposal'),
);
const state = schema((z) => z.enum(['open', 'stale', 'approved', 'rejected', 'all']).optional());
const filter: Schema<Parameters<Proposals['list']>[1]> = schema(() => proposalFilter().optional());
const purger = schema((z) => z.object({ by: by() }));
const verdict = schema((z) => z.enum(['approve', 'reject']));

function proposalFunctions(
  core: Core,
  { judged, noted }: HistoryPart,
  runHere: ProposalsPart['run'],
  listeners: Set<ArrivalListener>,
): Proposals {
  const {
    call: { later, now },
    catalog,
    config,
    events,
    hooks,
  } = core;
  const run = async <T>(id: string, work: (opened: OpenProposals) => T | Promise<T>): Promise<T> => {
    try {
      return await runHere(work);
    } catch (error) {
      if (isCodedError(error, 'PROPOSAL_NOT_FOUND')) await assertHere(catalog.sources(), id);
      throw error;
    }
  };
  return {
    propose: later('proposals.propose(input, turn)', [proposalInput, turn], async (input, ofTurn) => {
      const receipt = await noted(input.skillId, ofTurn, async () => {
        if (ofTurn && !mayPropose(config, ofTurn)) throw writeDenied(input.kind ?? 'update', NO_PROPOSALS);
        if (!catalog.sources().some((source) => source.propose))
          return runHere((opened) => opened.propose(input, ofTurn));
        const { proposeElsewhere } = await import('./propose/elsewhere.ts');
        const elsewhere = await proposeElsewhere(core, input, ofTurn);
        return elsewhere ?? runHere((opened) => opened.propose(input, ofTurn));
      });
      const { agentId = agentOf(input.author), threadId = ofTurn?.connectionId } = ofTurn ?? {};
      events.emit('changed', { skillId: input.skillId, outcome: 'proposed', agentId, threadId });
      return receipt;
    }),
    import: later('proposals.import(report)', [storedText], (report) => runHere((opened) => opened.import(report))),
    list: later('proposals.list(state, filter)', [state, filter], (...given) =>
      runHere((opened) => opened.list(...given)),
    ),
    get: later('proposals.get(id)', [text], (id) => run(id, (opened) => opened.get(id))),
    text: later('proposals.text(id)', [text], (id) => run(id, (opened) => opened.text(id))),
    edit: later('proposals.edit(id, edit)', [text, proposalEdit], (id, edit) =>
      run(id, (opened) => opened.edit(id, edit)),
    ),
    approve: later('proposals.approve(id, actor)', [text, approval], (id, actor) =>
      judged.decided({ proposalId: id }, actor, (inspected) =>
        run(id, (opened) => opened.approve(id, { ...actor, ...inspected })),
      ),
    ),
    reject: later('proposals.reject(id, actor)', [text, opinion], (id, actor) =>
      run(id, (opened) => opened.reject(id, actor)),
    ),
    recommend: later('proposals.recommend(id, verdict, actor)', [text, verdict, opinion], (id, wanted, actor) =>
      run(id, (opened) => opened.recommend(id, wanted, actor)),
    ),
    purge: later('proposals.purge(ids, actor)', [texts, purger], (...given) =>
      runHere((opened) => opened.purge(...given)),
    ),
    stats: () => runHere((opened) => opened.stats()),
    onArrival: now('proposals.onArrival(listener)', [aFunction<ArrivalListener>()], (listener) => {
      const told: ArrivalListener = (proposal) => void hooks.call('onArrival', () => listener(frozen(proposal)));
      listeners.add(told);
      return () => listeners.delete(told);
    }),
  };
}
