import type { TurnContext } from 'skill-registry/kernel';
import type { Skill } from '../skill/skill.ts';

/** Which bodies stand where in a conversation, so that none is sent twice. Skills are told by their qualified ids. */
export interface ToldBodies {
  /** Of those that messages of a person carry; the system text leaves them out. */
  inMessages(turn: TurnContext): ReadonlySet<string>;
  /** The system text of a turn carries these. */
  inSystemText(ids: ReadonlySet<string>, turn: TurnContext): void;
  /**
   * A person applies a skill.
   *
   * @returns whether the system text carries its body already, so that the message need not.
   */
  apply(skill: Skill, turn: TurnContext): boolean;
}

interface Told {
  readonly messages: ReadonlySet<string>;
  readonly system: ReadonlySet<string>;
}

/** Conversations end without saying so, so the oldest are forgotten. */
const MAX_CONVERSATIONS = 1000;
const NOTHING: Told = { messages: new Set(), system: new Set() };

export function createToldBodies(): ToldBodies {
  const known = new Map<string, Told>();
  const of = (turn: TurnContext): Told => known.get(keyOf(turn)) ?? NOTHING;
  const change = (turn: TurnContext, changed: Partial<Told>): void => {
    if (turn.threadId === undefined) return;
    const told = { ...of(turn), ...changed };
    known.delete(keyOf(turn));
    known.set(keyOf(turn), told);
    const [oldest] = known.keys();
    if (known.size > MAX_CONVERSATIONS && oldest !== undefined) known.delete(oldest);
  };
  return {
    inMessages: (turn) => of(turn).messages,
    inSystemText: (ids, turn) => change(turn, { system: ids }),
    apply({ id, qualifiedId }, turn) {
      const { messages, system } = of(turn);
      const isThere =
        system.has(qualifiedId) || (turn.givenSkills ?? []).some((one) => [id, qualifiedId].includes(one));
      if (!isThere) change(turn, { messages: new Set(messages).add(qualifiedId) });
      return isThere;
    },
  };
}

// --- internal ---

/** Agents of one conversation do not see each other's text. */
function keyOf({ threadId, agentId }: TurnContext): string {
  return JSON.stringify([threadId, agentId]);
}
