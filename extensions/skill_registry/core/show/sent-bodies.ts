import type { TurnContext } from 'skill-registry/kernel';
import { RecentMap } from '../../../../lib/recent-map/index.ts';
import type { Skill } from '../skill/skill.ts';
import { conversationKey } from './scope.ts';

/** Bodies that a conversation contains, so that none is sent twice. Ids are qualified. */
export interface SentBodies {
  /** In messages of a person; the system text leaves them out. */
  inMessages(turn: TurnContext): ReadonlySet<string>;
  inSystemText(ids: ReadonlySet<string>, turn: TurnContext): void;
  /** @returns `isInPrompt`: the system text has the body, so the message needs none. `undo`: for an unsent message. */
  apply(skill: Skill, turn: TurnContext): { readonly isInPrompt: boolean; undo(): void };
}

interface BodiesSent {
  readonly messages: ReadonlySet<string>;
  readonly system: ReadonlySet<string>;
}

/** The end of a conversation is not reported: the oldest are removed. */
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
