/** Raised by one whenever a rule changes: a part of every key under which an inspection is kept. Loads no rules. */
export const RULE_SET = 2;
