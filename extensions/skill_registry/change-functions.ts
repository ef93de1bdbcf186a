import { isCodedError, type TurnContext } from 'skill-registry/kernel';
import { type Schema, schema } from '../../lib/arguments/index.ts';
import type { AddPlan, SkillRegistry, SkillRegistryAdmin, UpdatePlan } from './api.ts';
import { aFunction, type CheckedCalls, revision, text, texts, turn, words } from './checked-calls.ts';
import { frozen } from './core/catalog/snapshot.ts';
import { findVisible } from './core/show/scope.ts';
import { inspectedWithoutAttack } from './decisions.ts';
import type { ChangeToApprove } from './features/guard/types.ts';
import { actor, by, decider, fileContent, storedText } from './features/history/arguments.ts';
import type { Decider } from './features/history/types.ts';
import type { ApplyOptions } from './features/install/types.ts';
import {
  approval,
  opinion,
  proposalEdit,
  proposalFilter,
  proposalInput,
} from './features/proposals/propose/arguments.ts';
import type { Proposal } from './features/proposals/propose/types.ts';
import type { OpenChanges } from './open-changes.ts';
import { assertOpen, type Parts } from './parts.ts';

type Doors = Pick<SkillRegistry, 'proposals' | 'history' | 'origin'> &
  Pick<SkillRegistryAdmin, 'management' | 'evidence' | 'evaluate' | 'proposalEvidence'>;

export function changeFunctions(parts: Parts, call: CheckedCalls): Doors {
  const { changes, hooks } = parts;
  const { run } = changes;
  const { later } = call;
  const { step, noted } = recordingOf(parts);
  const planned =
    <Given extends readonly unknown[], P extends AddPlan | UpdatePlan>(plan: (...given: Given) => Promise<P>) =>
    async (...given: Given): Promise<P> => {
      const made = await plan(...given);
      return { ...made, apply: later('apply(actor, options)', [actor, applyOptions], made.apply) };
    };
  const approve: Doors['proposals']['approve'] = (id, actor) =>
    run(async ({ proposals }) => {
      try {
        const decision = await proposals.approve(id, actor);
        step(decision.skillId, decision.state, actor.by);
        return decision;
      } catch (error) {
        if (isCodedError(error, 'PROPOSAL_STALE')) step((await proposals.get(id)).skillId, 'stale', actor.by);
        throw error;
      }
    });
  // One by one: two harmless halves may become an attack together.
  let last: Promise<unknown> = Promise.resolve();
  /** Who is no person decides only on what is no attack. */
  const decided = <Result>(
    change: ChangeToApprove,
    actor: Decider,
    work: (inspected: Partial<Decider>) => Promise<Result>,
  ): Promise<Result> => {
    if (actor.by.startsWith('person:')) return work({});
    const deciding = last.then(async () => work({ inspected: await inspectedWithoutAttack(parts, change) }));
    last = deciding.catch(() => undefined);
    return deciding;
  };
  return {
    proposals: {
      propose: later('proposals.propose(input, turn)', [proposalInput, turn], async (input, turn) => {
        const receipt = await noted(input.skillId, turn, ({ proposals }) => proposals.propose(input, turn));
        step(input.skillId, 'proposed', input.author, turn);
        return receipt;
      }),
      import: later('proposals.import(report)', [storedText], (report) =>
        run(({ proposals }) => proposals.import(report)),
      ),
      list: later('proposals.list(state, filter)', [state, optional(proposalFilter)], (state, filter) =>
        run(({ proposals }) => proposals.list(state, filter)),
      ),
      get: later('proposals.get(id)', [text], (id) => run(({ proposals }) => proposals.get(id))),
      text: later('proposals.text(id)', [text], (id) => run(({ proposals }) => proposals.text(id))),
      edit: later('proposals.edit(id, edit)', [text, proposalEdit], async (id, edit) => {
        const edited = await run(({ proposals }) => proposals.edit(id, edit));
        if (edited.changed) step(edited.skillId, 'edited', edit.by);
        return edited;
      }),
      approve: later('proposals.approve(id, actor)', [text, approval], (id, actor) =>
        decided({ proposalId: id }, actor, (inspected) => approve(id, { ...actor, ...inspected })),
      ),
      reject: later('proposals.reject(id, actor)', [text, opinion], async (id, actor) => {
        const decision = await run(({ proposals }) => proposals.reject(id, actor));
        step(decision.skillId, decision.state, actor.by);
        return decision;
      }),
      recommend: later('proposals.recommend(id, verdict, actor)', [text, verdict, opinion], (id, verdict, actor) =>
        run(async ({ proposals }) => {
          await proposals.recommend(id, verdict, actor);
          step((await proposals.get(id)).skillId, 'recommended', actor.by);
        }),
      ),
      purge: later('proposals.purge(ids, actor)', [texts, purger], (ids, actor) =>
        run(({ proposals }) => proposals.purge(ids, actor)),
      ),
      stats: () => run(({ proposals }) => proposals.stats()),
      onArrival: call.now('proposals.onArrival(listener)', [aFunction<ArrivalListener>()], (listener) => {
        const told: ArrivalListener = (proposal) => void hooks.call('onArrival', () => listener(frozen(proposal)));
        changes.listeners.add(told);
        return () => changes.listeners.delete(told);
      }),
    },
    history: {
      revisions: later('history.revisions(skillId)', [text], (id) => run(({ history }) => history.revisions(id))),
      revision: later('history.revision(skillId, revision)', [text, revision], (id, number) =>
        run(({ history }) => history.revision(id, number)),
      ),
      read: later('history.read(skillId, revision, path)', [text, revision, words], (id, number, path) =>
        run(({ history }) => history.read(id, number, path)),
      ),
      diff: later('history.diff(skillId, a, b)', [text, revision, revision], (id, a, b) =>
        run(({ history }) => history.diff(id, a, b)),
      ),
      rollback: later('history.rollback(skillId, revision, actor)', [text, revision, decider], (id, number, actor) =>
        decided({ skillId: id, revision: number }, actor, (inspected) =>
          run(({ history }) => history.rollback(id, number, { ...actor, ...inspected })),
        ),
      ),
      restore: later('history.restore(skillId, actor)', [text, decider], (id, actor) =>
        decided({ restoredId: id }, actor, (inspected) =>
          run(({ history }) => history.restore(id, { ...actor, ...inspected })),
        ),
      ),
    },
    origin: {
      add: planned(
        later('origin.add(what, options)', [text, addOptions], (what, options) =>
          run(({ origin }) => origin.add(what, options)),
        ),
      ),
      import: planned(
        later('origin.import(path, options)', [text, importOptions], (path, options) =>
          run(({ origin }) => origin.import(path, options)),
        ),
      ),
      restore: planned(
        later('origin.restore(options)', [restoreOptions], (options) => run(({ origin }) => origin.restore(options))),
      ),
      update: planned(later('origin.update(ids)', [optional(texts)], (ids) => run(({ origin }) => origin.update(ids)))),
      sources: () => run(({ origin }) => origin.sources()),
      verify: () => run(({ origin }) => origin.verify()),
      remove: later('origin.remove(id, actor)', [text, actor], (id, actor) =>
        run(({ origin }) => origin.remove(id, actor)),
      ),
      publish: publishOf(parts, call),
    },
    management: {
      create: later('management.create(skillId, content, actor)', [text, storedText, actor], (id, content, actor) =>
        run(({ management }) => management.create(id, content, actor)),
      ),
      add: later('management.add(path, content, actor)', [text, storedText, actor], (path, content, actor) =>
        run(({ management }) => management.add(path, content, actor)),
      ),
      write: later(
        'management.write(skillId, path, content, actor, turn)',
        [text, text, fileContent, actor, turn],
        (id, path, content, actor, turn) =>
          noted(id, turn, ({ management }) => management.write(id, path, content, actor, turn)),
      ),
      repair: later('management.repair(skillId, shown, actor)', [text, storedText, actor], (id, shown, actor) =>
        run(({ management }) => management.repair(id, shown, actor)),
      ),
      remove: later('management.remove(skillId, actor, turn)', [text, actor, turn], (id, actor, turn) =>
        noted(id, turn, ({ management }) => management.remove(id, actor, turn)),
      ),
    },
    evidence: later('admin.evidence(skillId)', [text], (id) => run(({ evaluation }) => evaluation.evidence(id))),
    evaluate: later('admin.evaluate(skillId, options)', [text, evaluateOptions], (id, options) =>
      run(({ evaluation }) => evaluation.evaluate(id, options)),
    ),
    proposalEvidence: later('admin.proposalEvidence(proposalId)', [text], (id) =>
      run(({ evaluation }) => evaluation.proposalEvidence(id)),
    ),
  };
}

// --- internal ---

type ArrivalListener = (proposal: Proposal) => void;

function optional<Output>(wanted: Schema<Output>): Schema<Output | undefined> {
  return schema(() => wanted().optional());
}

const state = schema((z) => z.enum(['open', 'stale', 'approved', 'rejected', 'all']).optional());
const purger = schema((z) => z.object({ by: by() }));
const verdict = schema((z) => z.enum(['approve', 'reject']));
const word = schema((z) => z.string().optional());
const addOptions = schema((z) => {
  const flag = z.boolean().optional();
  return z
    .strictObject({ skills: z.array(z.string()).optional(), all: flag, link: flag, cwd: word(), to: word() })
    .optional();
});
const importOptions = schema((z) => z.strictObject({ name: word(), cwd: word() }).optional());
const restoreOptions = schema((z) => z.strictObject({ to: word() }).optional());
const publishOptions = schema((z) => z.strictObject({ to: z.string(), ids: z.array(z.string()).optional() }));
const evaluateOptions = schema((z) => z.strictObject({ outputs: word() }).optional());
const applyOptions: Schema<ApplyOptions | undefined> = schema((z) =>
  z.strictObject({ allowBlock: z.array(z.string()).optional() }).optional(),
);

/** Needs no history, so it works where none can be opened. */
function publishOf(parts: Parts, { later }: CheckedCalls): SkillRegistry['origin']['publish'] {
  const { catalog, heldSkills, root } = parts;
  const context = {
    root,
    heldSkills,
    snapshot: () => catalog.snapshot(),
    sources: () => catalog.sources(),
    refresh: () => catalog.refresh(),
  };
  return later('origin.publish(options)', [publishOptions], async (options) => {
    assertOpen(parts);
    return (await import('./features/pages/publish/publish.ts')).publish(context, options);
  });
}

/** Also records what an agent was refused. */
function recordingOf({ catalog, changes, grants, usage }: Parts) {
  return {
    step(skillId: string, outcome: string, by: string | undefined, turn: TurnContext = {}): void {
      const { agentId = agentOf(by), threadId } = turn;
      usage.recorder.step({ kind: 'proposal', skillId, outcome, agentId, threadId });
    },
    async noted<Result>(
      skillId: string,
      turn: TurnContext | undefined,
      work: (open: OpenChanges) => Promise<Result>,
    ): Promise<Result> {
      try {
        return await changes.run(work);
      } catch (error) {
        if (!turn) throw error;
        const refusal = isCodedError(error, 'SKILL_NOT_FOUND')
          ? findVisible(catalog.snapshot(), skillId, turn, grants.of(turn)).refusal
          : undefined;
        const outcome = refusal ?? (isCodedError(error) ? error.code : 'OTHER');
        const { agentId, threadId } = turn;
        usage.recorder.step({ kind: refusal ? 'refusal' : 'failure', skillId, outcome, agentId, threadId });
        throw error;
      }
    },
  };
}

/** Names of people are not recorded. */
function agentOf(by: string | undefined): string | undefined {
  return by?.startsWith('agent:') ? by.slice('agent:'.length) : undefined;
}
