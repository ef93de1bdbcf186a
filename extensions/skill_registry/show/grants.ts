import type { TurnContext } from 'skill-registry/kernel';
import type { Skill } from '../skill/skill.ts';
import type { Granted } from './scope.ts';

/** Which skills a person has loaded in which conversation. */
export interface Grants {
  /** Does nothing outside of a conversation. */
  add(skill: Skill, turn: TurnContext): void;
  of(turn: TurnContext): Granted;
}

/** Conversations end without saying so, so the oldest are forgotten. */
const MAX_CONVERSATIONS = 1000;
const NONE: Granted = new Set();

export function createGrants(): Grants {
  const granted = new Map<string, Set<string>>();
  return {
    add({ qualifiedId }, turn) {
      if (turn.threadId === undefined) return;
      const key = keyOf(turn);
      const skills = granted.get(key) ?? new Set();
      granted.delete(key);
      granted.set(key, skills.add(qualifiedId));
      const [oldest] = granted.keys();
      if (granted.size > MAX_CONVERSATIONS && oldest !== undefined) granted.delete(oldest);
    },
    of: (turn) => (turn.threadId === undefined ? NONE : (granted.get(keyOf(turn)) ?? NONE)),
  };
}

// --- internal ---

/** The agent is part of it: one that is called by another does not inherit what its caller was shown. */
function keyOf({ threadId, agentId }: TurnContext): string {
  return JSON.stringify([threadId, agentId]);
}
