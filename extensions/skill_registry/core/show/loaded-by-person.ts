import type { TurnContext } from 'skill-registry/kernel';
import { RecentMap } from '../../../../lib/recent-map/index.ts';
import type { Skill } from '../skill/skill.ts';

/** What conversations were given, in qualified ids, so that no body is sent twice. Empty without `threadId`. */
export interface Conversations {
  /** Loaded by a person: the agent of the conversation may use them, even if not bound. */
  granted(turn: TurnContext): ReadonlySet<string>;
  grant(skill: Skill, turn: TurnContext): void;
  /** Bodies in messages of a person; the system text leaves them out. */
  inMessages(turn: TurnContext): ReadonlySet<string>;
  inSystemText(ids: ReadonlySet<string>, turn: TurnContext): void;
  /** @returns `isInPrompt`: the system text has the body, so the message needs none. `undo`: for an unsent message. */
  apply(skill: Skill, turn: TurnContext): { readonly isInPrompt: boolean; undo(): void };
}

/** The end of a conversation is not reported: the oldest are removed. */
const MAX_CONVERSATIONS = 1000;
export const NOTHING: ReadonlySet<string> = new Set();

export function createConversations(): Conversations {
  const [granted, messages, system] = [idsByConversation(), idsByConversation(), idsByConversation()];
  return {
    granted: granted.of,
    grant: ({ qualifiedId }, turn) => granted.set(turn, new Set(granted.of(turn)).add(qualifiedId)),
    inMessages: messages.of,
    inSystemText: (ids, turn) => system.set(turn, ids),
    apply({ id, qualifiedId }, turn) {
      const isInPrompt =
        system.of(turn).has(qualifiedId) || (turn.givenSkills ?? []).some((one) => [id, qualifiedId].includes(one));
      if (isInPrompt || messages.of(turn).has(qualifiedId)) return { isInPrompt, undo: () => {} };
      messages.set(turn, new Set(messages.of(turn)).add(qualifiedId));
      const undo = (): void => messages.set(turn, new Set([...messages.of(turn)].filter((one) => one !== qualifiedId)));
      return { isInPrompt, undo };
    },
  };
}

// --- internal ---

function idsByConversation() {
  const ids = new RecentMap<string, ReadonlySet<string>>(MAX_CONVERSATIONS);
  // Of its agent alone, which gets neither the texts nor the loaded skills of its caller.
  const keyOf = ({ threadId, agentId }: TurnContext): string => JSON.stringify([threadId, agentId]);
  return {
    of: (turn: TurnContext) => (turn.threadId === undefined ? NOTHING : (ids.get(keyOf(turn)) ?? NOTHING)),
    set(turn: TurnContext, given: ReadonlySet<string>): void {
      if (turn.threadId !== undefined) ids.set(keyOf(turn), given);
    },
  };
}
