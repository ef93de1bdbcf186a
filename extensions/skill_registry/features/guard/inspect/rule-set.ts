/** Raised by one when a rule changes: a part of every key under which an inspection is kept. Loads no rules. */
export const RULE_SET = 5;

/** Its findings keep a skill from being published until a person allows them. */
export const KEY_RULE = 'key-or-token';
