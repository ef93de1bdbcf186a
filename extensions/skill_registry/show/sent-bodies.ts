import type { TurnContext } from 'skill-registry/kernel';
import { RecentMap } from '../../../lib/recent-map/index.ts';
import type { Skill } from '../skill/skill.ts';
import { conversationKey } from './scope.ts';

/** Which bodies a conversation contains already, so that none is sent twice. Skills are identified by qualified id. */
export interface SentBodies {
  /** Skills whose bodies are in messages of a person; the system text leaves these bodies out. */
  inMessages(turn: TurnContext): ReadonlySet<string>;
  /** Records the bodies in the system text of a turn. */
  inSystemText(ids: ReadonlySet<string>, turn: TurnContext): void;
  /**
   * Records that a person applies a skill.
   *
   * @returns `isInPrompt`: whether the system text contains its body; then the message does not need it. `undo`: for a message that no agent
   *   received.
   */
  apply(skill: Skill, turn: TurnContext): { readonly isInPrompt: boolean; undo(): void };
}

interface BodiesSent {
  readonly messages: ReadonlySet<string>;
  readonly system: ReadonlySet<string>;
}

/** The end of a conversation is not reported, so the oldest are removed. */
const MAX_CONVERSATIONS = 1000;
const NOTHING: BodiesSent = { messages: new Set(), system: new Set() };

export function createSentBodies(): SentBodies {
  const conversations = new RecentMap<string, BodiesSent>(MAX_CONVERSATIONS);
  const of = (turn: TurnContext): BodiesSent => conversations.get(conversationKey(turn)) ?? NOTHING;
  const change = (turn: TurnContext, changed: Partial<BodiesSent>): void => {
    if (turn.threadId === undefined) return;
    conversations.set(conversationKey(turn), { ...of(turn), ...changed });
  };
  return {
    inMessages: (turn) => of(turn).messages,
    inSystemText: (ids, turn) => change(turn, { system: ids }),
    apply({ id, qualifiedId }, turn) {
      const { messages, system } = of(turn);
      const isInPrompt =
        system.has(qualifiedId) || (turn.givenSkills ?? []).some((one) => [id, qualifiedId].includes(one));
      if (isInPrompt || messages.has(qualifiedId)) return { isInPrompt, undo: () => {} };
      change(turn, { messages: new Set(messages).add(qualifiedId) });
      const undo = (): void =>
        change(turn, { messages: new Set([...of(turn).messages].filter((one) => one !== qualifiedId)) });
      return { isInPrompt, undo };
    },
  };
}
