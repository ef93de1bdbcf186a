import { CodedError, describeError, type z } from 'skill-registry/kernel';
import { unlessCoded } from '../../../../../lib/errors/index.ts';
import { postgresFailure } from '../../../../../lib/postgres/index.ts';
import { sqliteFailure } from '../../../../../lib/sqlite/index.ts';
import { oneLine } from '../../../../../lib/text/index.ts';
import type { HubGrant, HubPrincipal, HubService } from '../../../../skill_hub/api.ts';
import type { SkillRegistry } from '../../../core/api.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { INDEX_SCHEMA, MAX_ENTRIES, SKILL_NAME } from '../../pages/page.ts';
import { isWaiting } from '../../proposals/propose/describe.ts';
import { versionOf } from '../../proposals/propose/proposal-store.ts';
import type { HubProposal, HubStore } from '../store/hub-store.ts';
import { approve, proposalNamed, reject } from '../team/decide.ts';
import { submit } from '../team/propose.ts';
import { publish, rollback, withdraw } from '../team/publish.ts';
import { filesOf, skillsOf, type Team } from '../team/team.ts';
import {
  type HubFeed,
  type HubHits,
  type HubReceipt,
  type SentProposal,
  sentDecision,
  sentProposal,
  sentRollback,
  sentUsage,
} from '../wire.ts';
import { hubName, principalsOf } from './people.ts';
import { policyOf } from './policy.ts';
import { withPresentState } from './shown-proposals.ts';
import { openSpace } from './space.ts';
import { tokenOf } from './tokens.ts';
import { UsageTaker, usageOf } from './usage.ts';

export interface ServiceOptions {
  readonly store: HubStore;
  readonly fourEyes: boolean;
  /** What a person may whom the proxy names and the list of people has not. Default: nothing. */
  readonly unknown?: readonly HubGrant[];
  /** Of the hub. */
  readonly root: string;
}

export interface OpenedService extends HubService {
  /** For the review page. */
  registryOf(space: string): Promise<SkillRegistry>;
  /** Also closes the store. */
  close(): Promise<void>;
}

/** What the hub serves, over its store. */
export function createService(options: ServiceOptions): OpenedService {
  const { store } = options;
  const spaces = new Map<string, Promise<SkillRegistry>>();
  const taker = new UsageTaker(store);
  /** Only names of tokens come here, so there are no more than those. */
  const spaceOf = (space: string): Promise<SkillRegistry> => {
    const opened = spaces.get(space) ?? openSpace({ ...options, space });
    spaces.set(space, opened);
    opened.catch(() => spaces.delete(space));
    return opened;
  };
  const teamOf = ({ space }: HubPrincipal): Team => ({ ...options, space });
  return {
    principalOf: (secret) => tokenOf(store, secret),
    principalsOf: async (name, granted) =>
      unlessCoded(() => principalsOf(store, hubName(`person:${name}`), granted, options.unknown), []),
    async nameOf(account, name) {
      const person = unlessCoded(() => hubName(`person:${name}`), undefined);
      return person && (await store.nameAccount(account, person))?.slice('person:'.length);
    },
    async assertReady() {
      await store.tokens();
    },
    feed: (principal, { after, epoch, waitSeconds, signal }, isLetIn) =>
      waitForFeed(store, principal, { after, epoch, ends: Date.now() + waitSeconds * 1000, signal, isLetIn }),
    async artifact({ space }, digest) {
      const found = await store.artifact(space, digest, 'present');
      if (found) return found;
      throw new CodedError('HUB_NOT_FOUND', 'No skill of this space has this artifact now. Ask for the changes again.');
    },
    async search({ space }, query, limit): Promise<HubHits> {
      const registry = await spaceOf(space);
      await registry.admin.prepareQuery(query, {});
      const { skills, provisional = false } = registry.list({ query, limit });
      return { hits: skills.map(({ skillId: id, score = 0 }) => ({ id, score })), provisional };
    },
    async index({ space }) {
      const entries = await skillsOf(store, space);
      if (entries.length > MAX_ENTRIES) throw tooLarge();
      const skills = entries.map(({ id: name, type, description, digest }) => {
        return { name, type, description, digest, url: `../../artifacts/${digest}` };
      });
      return { $schema: INDEX_SCHEMA, skills };
    },
    async policy({ space }) {
      const found = policyOf(options.root, space);
      if (found) return found;
      throw new CodedError('HUB_NOT_FOUND', 'This space has no policy.');
    },
    async propose(principal, sent): Promise<{ readonly answer: HubReceipt; readonly isNew: boolean }> {
      const proposal = read(sentProposal, sent);
      const { person } = principal;
      const author = proposal.agent === undefined ? person : `agent:${proposal.agent} of ${person}`;
      const sender = { person, author, model: proposal.model, sentId: proposal.id };
      const { id, state, isNew, warning } = await submit(teamOf(principal), inputOf(proposal), sender);
      return { isNew, answer: { proposal_id: id, state, ...(warning !== undefined && { warning }) } };
    },
    async proposals(principal, { state, skillId, limit }) {
      const team = teamOf(principal);
      const { person } = principal;
      const states = statesOf(state);
      const own = isReviewer(principal) ? {} : { person };
      const rows = await store.proposals(principal.space, { ...own, ...(states && { states }), skillId, limit });
      const present = await withPresentState(team, rows);
      // A stored `open` may be stale now, and the other way round.
      const wanted = states ? present.filter((row) => row.state === state) : present;
      return { proposals: wanted.map(proposalOnWire) };
    },
    async proposal(principal, id) {
      const team = teamOf(principal);
      const row = await proposalNamed(team, id);
      // As one that is not there.
      if (!isReviewer(principal) && row.person !== principal.person) await proposalNamed(team, '');
      const [shown = row] = await withPresentState(team, [row]);
      return proposalOnWire(shown);
    },
    async decide(principal, id, sent) {
      const { decision, version, reason, inspected } = read(sentDecision, sent);
      const team = teamOf(principal);
      const actor = { by: principal.person, version, ...(reason !== undefined && { reason }) };
      const { proposalId, state, skillId, revision, merged } =
        decision === 'approve'
          ? await approve(team, id, { ...actor, inspected })
          : await reject(team, id, { ...actor, reason: reason ?? '' });
      return { proposal_id: proposalId, state, skill_id: skillId, revision, merged };
    },
    async publish(principal, skillId, artifact, inspected) {
      if (!SKILL_NAME.test(skillId)) throw invalidArgument('This is no id of a skill.');
      const files = await filesOf(artifact);
      const actor = { by: principal.person, inspected };
      return { skill_id: skillId, revision: await publish(teamOf(principal), skillId, files, actor) };
    },
    async withdraw(principal, skillId) {
      return {
        skill_id: skillId,
        revision: await withdraw(teamOf(principal), skillId, { by: principal.person }),
      };
    },
    async rollback(principal, skillId, sent) {
      const { revision, reason, inspected } = read(sentRollback, sent);
      const actor = { by: principal.person, reason, inspected };
      const { number } = await rollback(teamOf(principal), skillId, revision, actor);
      return { skill_id: skillId, revision: number };
    },
    addUsage: (principal, sent) => taker.take(principal, read(sentUsage, sent)),
    usage: ({ space }, days) => usageOf(store, space, days),
    registryOf: spaceOf,
    async close() {
      for (const opened of spaces.values()) await opened.then((registry) => registry.close()).catch(() => undefined);
      await store.close();
    },
  };
}

/** What the database says, as a code. */
export function asCoded(error: unknown): unknown {
  const failure = sqliteFailure(error) ?? postgresFailure(error);
  if (failure === 'text') return invalidArgument('A text has a character that the database does not keep.');
  if (failure === undefined || failure === 'other') return error;
  return new CodedError('STORE_UNAVAILABLE', `The database of the hub cannot be used now (${failure}).`, {}, error);
}

// --- internal ---

const MOST_CHANGES = 500;
/** How often a wait looks whether its token is over; of a revocation it is told, as of every change. */
const LOOK_MS = 5000;

interface Wait {
  readonly after: number;
  readonly epoch: string | undefined;
  readonly ends: number;
  readonly signal: AbortSignal;
  readonly isLetIn: () => Promise<boolean>;
}

function isReviewer({ may }: HubPrincipal): boolean {
  return may.includes('reviewer');
}

async function waitForFeed(store: HubStore, principal: HubPrincipal, wait: Wait): Promise<HubFeed> {
  const { after, epoch, ends, signal, isLetIn } = wait;
  const { space } = principal;
  for (;;) {
    // Before the look, so that no change falls between the two.
    const changed = nextChange(store, space, Math.min(LOOK_MS, ends - Date.now()), signal);
    const state = await store.state(space);
    const isOther = (epoch !== undefined && epoch !== state.epoch) || after > state.head;
    const isOver = Date.now() >= ends || signal.aborted;
    if (isOther || isOver || state.head > after) {
      changed.stop();
      const found = isOther ? [] : await store.changes(space, after, MOST_CHANGES);
      // One that came since the head was read is in it, too.
      const head = Math.max(state.head, found.at(-1)?.seq ?? 0);
      return { epoch: state.epoch, head, more: found.length === MOST_CHANGES, changes: found };
    }
    await changed.promise;
    if (!(await isLetIn())) throw new CodedError('HUB_NO_PRINCIPAL', 'You are not let in any more.');
  }
}

function nextChange(store: HubStore, space: string, ms: number, signal: AbortSignal) {
  let stop: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    const timer = setTimeout(() => stop(), Math.max(0, ms));
    const unsubscribe = store.onChange((changed) => {
      if (changed === space) stop();
    });
    const onAbort = (): void => stop();
    signal.addEventListener('abort', onAbort, { once: true });
    stop = () => {
      clearTimeout(timer);
      unsubscribe();
      signal.removeEventListener('abort', onAbort);
      resolve();
    };
  });
  return { promise, stop };
}

function tooLarge(): CodedError {
  const message = `The space has more skills than an index: ${MAX_ENTRIES}. Follow its changes.`;
  return new CodedError('HUB_TOO_LARGE', message);
}

/** @throws INVALID_ARGUMENT. */
function read<T>(type: z.ZodType<T>, sent: unknown): T {
  const { data, error } = type.safeParse(sent);
  if (data !== undefined) return data;
  throw invalidArgument(oneLine(describeError(error), 500));
}

function inputOf({ skill_id: skillId, base, old_string, new_string, ...sent }: SentProposal) {
  const { kind, path, diff, content, remove, justification, evidence } = sent;
  const replaced = { oldString: old_string, newString: new_string };
  return { skillId, artifact: base, kind, path, diff, content, remove, justification, evidence, ...replaced };
}

function statesOf(state = 'all') {
  const all = ['open', 'stale', 'approved', 'rejected'] as const;
  if (state === 'all') return undefined;
  const found = all.find((one) => one === state);
  if (found === undefined) throw invalidArgument('state is one of open, stale, approved, rejected and all.');
  return isWaiting({ state: found }) ? (['open', 'stale'] as const) : [found];
}

function proposalOnWire(row: HubProposal) {
  const { id, sent_id, state, kind, skill_id, path, author, created, diff, justification, evidence, conflict } = row;
  const { decided_by, decided_at, decision_reason: reason, revision } = row;
  const checks: unknown = JSON.parse(row.checks);
  const version = versionOf(row);
  const texts = { author, created, diff, justification, evidence, checks, conflict };
  const decision = { decided_by, decided_at, reason, revision };
  return { proposal_id: id, sent_id, state, kind, skill_id, path, version, ...texts, ...decision };
}
