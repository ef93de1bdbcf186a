import type { Skill } from '../api.ts';
import { foldLine } from '../skill/text.ts';

/** What a query is when it is a skill's name: no ranking puts another skill before it. */
export const NAME_SCORES = { equal: 1, prefix: 0.95, trigger: 0.85 } as const;

/** Lower case, one blank between words, so that `Code Review` and `code-review` are one name. */
export function asName(text: string): string {
  // Most ids are like this, and there are thousands.
  if (/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text)) return text.replaceAll('-', ' ');
  return foldLine(text)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}+#]+/gu, ' ')
    .trim();
}

/** Id, name and qualified id of a skill as `asName` has them, each between marks: one look through it compares them all. */
export function namesOf({ id, name, qualifiedId }: Skill): string {
  return `\n${asName(id)}\n${asName(name)}\t${asName(qualifiedId)}\n`;
}

/**
 * How much a query is the name of a skill: 1 when it is its id, name or qualified id, 0.95 when id or name begins with it, 0.85
 * when it is one of its trigger keywords, else 0.
 *
 * @param wanted - The query, by `asName`.
 * @returns takes a skill and its `namesOf`.
 */
export function nameMatcher(wanted: string): (skill: Skill, names: string) => number {
  if (wanted === '') return () => 0;
  const beginning = `\n${wanted}`;
  const equal = [`\n${wanted}\n`, `\n${wanted}\t`];
  const qualified = `\t${wanted}\n`;
  return ({ triggerKeywords }, names) => {
    const begins = names.includes(beginning);
    if (begins && equal.some((one) => names.includes(one))) return NAME_SCORES.equal;
    if (names.includes(qualified)) return NAME_SCORES.equal;
    if (begins) return NAME_SCORES.prefix;
    if (triggerKeywords.length === 0) return 0;
    return triggerKeywords.some((keyword) => asName(keyword) === wanted) ? NAME_SCORES.trigger : 0;
  };
}

/** Whether the text, in lower case, stands anywhere in what the skill says about itself beside its names. */
export function contains({ tags, triggerKeywords, description }: Skill, wanted: string): boolean {
  return [description, ...tags, ...triggerKeywords].some((text) => text.toLowerCase().includes(wanted));
}
