import type { Skill } from '../skill/skill.ts';

/** What the index keeps of one skill beside its postings. */
export interface IndexDocument {
  readonly key: string;
  /** Terms of the header, then of each section. */
  readonly lengths: Uint16Array;
  /** Words of the header as they are written, which typing errors are corrected to. */
  readonly words: readonly string[];
}

/** Shorter words are not corrected: too many are one edit away. */
export const MIN_CORRECTED = 4;

/** Content and id: the same file under another name is another document, because its name is searched for. */
export function documentKey({ digest, id }: Pick<Skill, 'digest' | 'id'>): string {
  return `${digest} ${id}`;
}

/** What of a skill is searched besides its body. */
export function headerText({ id, name, tags, triggerKeywords, description }: Skill): string {
  return [id, name === id ? '' : name, ...tags, ...triggerKeywords, description].join('\n');
}
