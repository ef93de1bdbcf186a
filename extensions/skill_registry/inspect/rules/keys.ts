import { findKeys } from '../../../../lib/text/index.ts';
import type { ClassifiedFile, Match, Rule } from '../rule.ts';
import { KEY_RULE } from '../rule-set.ts';

export const KEYS: readonly Rule[] = [
  {
    id: KEY_RULE,
    level: 'warn',
    family: 'secrets',
    message: 'Contains what looks like a key or token',
    why: 'Who gets the skill gets the key, and what was published once cannot be called back.',
    mend: 'Have it replaced by a new one, and name the variable or program that holds it.',
    find: keysIn,
  },
];

// --- internal ---

function* keysIn({ text }: ClassifiedFile): Generator<Match | undefined> {
  for (const found of findKeys(text)) {
    if (found) yield { line: found.line, words: found.masked, message: `Contains what looks like ${found.what}` };
    else yield undefined;
  }
}
