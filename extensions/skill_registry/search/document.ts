import type { Skill } from '../api.ts';
import { packPosting } from './posting-codec.ts';
import { sectionsOf } from './sections.ts';
import { termsOf, wordsOf } from './terms.ts';

/** What the index keeps of one skill. */
export interface IndexDocument {
  readonly key: string;
  /** Terms of the header, then of each section. */
  readonly lengths: Uint16Array;
  /** By term: section and times, packed as of document 0. */
  readonly postings: ReadonlyMap<string, readonly number[]>;
  /** Words of the header as they are written, which typing errors are corrected to. */
  readonly words: readonly string[];
}

/** Of a body, so many characters are indexed; a person does not read further either. */
export const MAX_INDEXED_BODY = 262_144;
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

export function makeDocument(skill: Skill, body: string): IndexDocument {
  const header = headerText(skill);
  const parts = [header, ...sectionsOf(body.slice(0, MAX_INDEXED_BODY))];
  const lengths = new Uint16Array(parts.length);
  const postings = new Map<string, number[]>();
  for (const [section, text] of parts.entries()) {
    const terms = termsOf(text);
    lengths[section] = Math.min(terms.length, 0xffff);
    const times = new Map<string, number>();
    for (const term of terms) times.set(term, (times.get(term) ?? 0) + 1);
    for (const [term, count] of times) {
      const packed = packPosting(0, section, count);
      const known = postings.get(term);
      if (known) known.push(packed);
      else postings.set(term, [packed]);
    }
  }
  const words = new Set(wordsOf(header).filter((word) => word.length >= MIN_CORRECTED));
  return { key: documentKey(skill), lengths, postings, words: [...words] };
}
