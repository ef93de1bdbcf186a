import { CodedError } from 'skill-registry/kernel';
import { isWaiting } from '../../proposals/propose/describe.ts';
import { isEditable, versionOf } from '../../proposals/propose/proposal-store.ts';
import type { Proposal, ProposalState, Proposals, Recommendation } from '../../proposals/propose/types.ts';
import type { HubProposal, HubStore } from '../store/hub-store.ts';
import * as decisions from '../team/decide.ts';
import { submit } from '../team/propose.ts';
import { type PresentSkill, presentSkill, type Team } from '../team/team.ts';

/** @param settled - Called after a change, before the caller is answered. */
export function proposalsOf(team: Team, settled: () => Promise<unknown>): Proposals {
  const then = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } finally {
      await settled();
    }
  };
  return {
    async propose(input) {
      const { author = 'unknown' } = input;
      const { id, state } = await then(submit(team, input, { person: author, author }));
      return { proposalId: id, state, file: '' };
    },
    import: () => Promise.reject(notHere('A report is imported')),
    async list(state, filter = {}) {
      return Promise.all((await presentProposals(team, state, filter)).map((row) => shown(team, row)));
    },
    get: (id) => shownProposal(team, id),
    text: (id) => decisions.proposedText(team, id),
    edit: (id, edit) => then(decisions.edit(team, id, edit)),
    approve: (id, actor) => then(decisions.approve(team, id, actor)),
    reject: (id, actor) => then(decisions.reject(team, id, actor)),
    recommend: (id, verdict, actor) => then(decisions.recommend(team, id, verdict, actor)),
    purge: () => Promise.reject(notHere('Texts are purged')),
    stats: () => Promise.reject(notHere('Figures are counted')),
    onArrival(listener) {
      let last: Promise<number> = newest(team);
      return team.store.onChange((space) => {
        if (space !== team.space) return;
        last = last.then(async (before) => {
          const [row] = await team.store.proposals(team.space, { limit: 1 });
          if (row && row.seq > before) listener(await shown(team, row));
          return row?.seq ?? before;
        });
        last.catch(() => undefined);
      });
    },
  };
}

/** With the state that it has now. @throws PROPOSAL_NOT_FOUND. */
export async function shownProposal(team: Team, id: string): Promise<Proposal> {
  const [row] = await withPresentState(team, [await decisions.proposalNamed(team, id)]);
  return shown(team, row as HubProposal);
}

/** Newest first. @param state - Default: open and stale. */
export async function presentProposals(
  team: Team,
  state: ProposalState | 'all' | undefined,
  { limit, ...filter }: Parameters<HubStore['proposals']>[1],
): Promise<readonly HubProposal[]> {
  const isDecided = state === 'approved' || state === 'rejected';
  const states = state === 'all' ? undefined : isDecided ? [state] : (['open', 'stale'] as const);
  // A stored `open` may be stale now, and the other way round.
  const isOne = state === 'open' || state === 'stale';
  const rows = await team.store.proposals(team.space, { ...filter, states, limit: isOne ? undefined : limit });
  const present = await withPresentState(team, rows);
  return isOne ? present.filter((row) => row.state === state).slice(0, limit) : present;
}

export async function withPresentState(team: Team, rows: readonly HubProposal[]): Promise<readonly HubProposal[]> {
  const known = new Map<string, PresentSkill | undefined>();
  const found: HubProposal[] = [];
  for (const row of rows) {
    if (!isWaiting(row)) {
      found.push(row);
      continue;
    }
    const { skill_id: id } = row;
    if (!known.has(id)) known.set(id, await presentSkill(team, id));
    const plan = decisions.planOf(team, row, known.get(id));
    const isStale = 'stale' in plan;
    found.push({ ...row, state: isStale ? 'stale' : 'open', conflict: isStale ? plan.conflict || plan.stale : null });
  }
  return found;
}

// --- internal ---

async function newest({ store, space }: Team): Promise<number> {
  return (await store.proposals(space, { limit: 1 }))[0]?.seq ?? 0;
}

async function shown({ store, space }: Team, row: HubProposal): Promise<Proposal> {
  const { id, state, decided_by: by, decided_at: at, decision_reason: reason } = row;
  const events = await store.events(space, id);
  const recommendations = events
    .filter(({ kind }) => kind === 'recommended')
    .map(({ by, at, content }) => ({ by, at, ...content }) as Recommendation);
  const { kind, skill_id: skillId, source, path, base, diff, justification, evidence, author, model } = row;
  const said = { id, state, kind, skillId, source, path, base, diff, justification, evidence, author, model };
  return {
    ...said,
    version: versionOf(row),
    editable: isEditable(row),
    checks: JSON.parse(row.checks),
    recommendations,
    conflict: row.conflict,
    created: row.created,
    decision: by === null || at === null ? null : { by, at, reason },
    revision: row.revision,
    purged: null,
    file: '',
  };
}

function notHere(what: string): CodedError {
  return new CodedError('INVALID_ARGUMENT', `${what} on a machine, and not at a hub.`);
}
