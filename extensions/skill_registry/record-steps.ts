import { isCodedError, type TurnContext } from 'skill-registry/kernel';
import type { Changes } from './changes.ts';
import type { Refusal } from './show/scope.ts';
import type { RecordedUsage } from './usage/usage.ts';

/**
 * The same changes; steps of proposals, and what an agent was refused, are recorded.
 *
 * @param refusalOf - Why an agent may not have a skill that exists.
 */
export function recordSteps(
  changes: Changes,
  usage: Pick<RecordedUsage, 'recorder'>,
  refusalOf: (skillId: string, turn: TurnContext) => Refusal | undefined,
): Changes {
  const { management, proposals } = changes;
  const step = (skillId: string, outcome: string, by: string | undefined): void =>
    usage.recorder.step({ kind: 'proposal', skillId, outcome, agentId: agentOf(by) });
  const notedFailure = (error: unknown, skillId: string, turn: TurnContext): never => {
    const refusal = isCodedError(error, 'SKILL_NOT_FOUND') ? refusalOf(skillId, turn) : undefined;
    const outcome = refusal ?? (isCodedError(error) ? error.code : 'OTHER');
    const { agentId, threadId } = turn;
    usage.recorder.step({ kind: refusal ? 'refusal' : 'failure', skillId, outcome, agentId, threadId });
    throw error;
  };
  const noted = <T>(change: Promise<T>, skillId: string, turn: TurnContext | undefined): Promise<T> =>
    turn ? change.catch((error) => notedFailure(error, skillId, turn)) : change;
  return {
    ...changes,
    management: {
      ...management,
      write: (skillId, path, content, actor, turn) =>
        noted(management.write(skillId, path, content, actor, turn), skillId, turn),
      remove: (skillId, actor, turn) => noted(management.remove(skillId, actor, turn), skillId, turn),
    },
    proposals: {
      ...proposals,
      async propose(input, turn) {
        const receipt = await noted(proposals.propose(input, turn), input.skillId, turn);
        const { agentId = agentOf(input.author), threadId } = turn ?? {};
        usage.recorder.step({ kind: 'proposal', skillId: input.skillId, outcome: 'proposed', agentId, threadId });
        return receipt;
      },
      async edit(id, edit) {
        const edited = await proposals.edit(id, edit);
        if (edited.changed) step(edited.skillId, 'edited', edit.by);
        return edited;
      },
      async recommend(id, verdict, actor) {
        const recommended = await proposals.recommend(id, verdict, actor);
        step((await proposals.get(id)).skillId, 'recommended', actor.by);
        return recommended;
      },
      async reject(id, actor) {
        const decision = await proposals.reject(id, actor);
        step(decision.skillId, decision.state, actor.by);
        return decision;
      },
      async approve(id, actor) {
        try {
          const decision = await proposals.approve(id, actor);
          step(decision.skillId, decision.state, actor.by);
          return decision;
        } catch (error) {
          if (isCodedError(error, 'PROPOSAL_STALE')) step((await proposals.get(id)).skillId, 'stale', actor.by);
          throw error;
        }
      },
    },
  };
}

// --- internal ---

/** Names of people are not recorded. */
function agentOf(by: string | undefined): string | undefined {
  return by?.startsWith('agent:') ? by.slice('agent:'.length) : undefined;
}
