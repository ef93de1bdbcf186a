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
 * 1 when the query is a name of the skill, 0.95 when its id or name begins with it, 0.85 when it is one of its trigger
 * keywords, else 0.
 *
 * @param names - Of the skill, by `namesOf`.
 * @param wanted - The query, by `asName`.
 */
export function nameScore({ triggerKeywords }: Skill, names: string, wanted: string): number {
  if (wanted === '') return 0;
  const begins = names.includes(`\n${wanted}`);
  if (begins && (names.includes(`\n${wanted}\n`) || names.includes(`\n${wanted}\t`))) return NAME_SCORES.equal;
  if (names.includes(`\t${wanted}\n`)) return NAME_SCORES.equal;
  if (begins) return NAME_SCORES.prefix;
  return triggerKeywords.length > 0 && triggerKeywords.some((keyword) => asName(keyword) === wanted)
    ? NAME_SCORES.trigger
    : 0;
}

/** Whether the text stands anywhere in what the skill says about itself, in the middle of a word too. */
export function contains({ id, name, tags, triggerKeywords, description }: Skill, wanted: string): boolean {
  return [id, name, ...tags, ...triggerKeywords, description].some((text) => text.toLowerCase().includes(wanted));
}
