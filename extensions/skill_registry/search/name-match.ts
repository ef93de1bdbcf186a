import { foldLine } from '../../../lib/text/index.ts';
import type { Skill } from '../skill/skill.ts';

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

/** Whether the text, in lower case, stands anywhere in what the skill says about itself beside its names. */
export function contains({ tags, triggerKeywords, description }: Skill, wanted: string): boolean {
  return [description, ...tags, ...triggerKeywords].some((text) => text.toLowerCase().includes(wanted));
}
