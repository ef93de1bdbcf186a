import type { FindingLevel } from '../../../core/skill/guard.ts';

/** Raised by one when a rule changes: a part of every key under which an inspection is kept. Loads no rules. */
export const RULE_SET = 15;

/** Its findings keep a skill from being published until a person allows them. */
export const KEY_RULE = 'key-or-token';

/** Negative when `left` is more important. */
export function compareLevels(left: FindingLevel, right: FindingLevel): number {
  return LEVELS.indexOf(left) - LEVELS.indexOf(right);
}

// --- internal ---

const LEVELS: readonly FindingLevel[] = ['block', 'warn', 'info'];
