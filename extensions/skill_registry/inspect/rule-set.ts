/** Raised by one whenever a rule changes: a part of every key under which an inspection is kept. Apart from the rules, which take longer to load. */
export const RULE_SET = 1;
