import { foldLine } from '../../../../lib/text/index.ts';
import {
  MIN_CORRECTED,
  type QueryTerms,
  queryTerms,
  type TextIndex,
  termOf,
} from '../../../../lib/text-index/index.ts';
import type { Pool } from './pool.ts';
import { frequencyOf, placeWeight, type RankedTerm } from './rank.ts';

/** Only pairs of double quotes are syntax. */
export interface Query extends QueryTerms {
  /** Folded texts in lower case that must occur. Empty for a sentence: quotes are ordinary characters there. */
  readonly phrases: readonly string[];
  readonly onlyPhrases: boolean;
}

const MAX_TERMS = 128;
/** A query with more terms is a sentence: quotes are ordinary characters, and unknown words are not corrected. */
const SENTENCE_TERMS = 8;
const QUOTED = /["“”]([^"“”]+)["“”]/g;
const CORRECTED_WEIGHT = 0.8;

export function parseQuery(text: string): Query {
  const terms = queryTerms(text, MAX_TERMS);
  const quoted = terms.terms.length > SENTENCE_TERMS ? [] : [...text.matchAll(QUOTED)];
  const phrases = quoted.map(([, phrase = '']) => foldLine(phrase).toLowerCase()).filter((phrase) => / /.test(phrase));
  const onlyPhrases = phrases.length > 0 && text.replace(QUOTED, '').trim() === '';
  return { ...terms, phrases, onlyPhrases };
}

/** Corrects an unknown word to a header's word that is one edit away, unless most words are unknown: another topic. */
export function lookUpTerms(query: Query, pool: Pool, index: TextIndex, corrected: boolean): readonly RankedTerm[] {
  const { terms, optional, words } = query;
  const lookUp = (term: string, weight = 1): RankedTerm => {
    const chunks = index.postings(term);
    const frequency = frequencyOf(pool, chunks);
    return { term, chunks, weight, needed: frequency > 0 || !/\d/.test(term), frequency };
  };
  const asked = terms.map((term, place) => lookUp(term, placeWeight(place)));
  const correctable = corrected && terms.length <= SENTENCE_TERMS && (terms.length === 1 || !isMostlyUnknown(asked));
  const found = asked.map((one) => {
    if (one.frequency > 0) return one;
    const correction = correctable ? correctionOf(words.get(one.term) ?? one.term, pool, index) : undefined;
    return correction ? lookUp(correction, CORRECTED_WEIGHT) : one;
  });
  const last = placeWeight(terms.length);
  return [...found, ...optional.map((term) => ({ ...lookUp(term, last), needed: false }))];
}

/** Then the query is about another topic, or in another language. */
export function isMostlyUnknown(terms: readonly RankedTerm[]): boolean {
  const needed = terms.filter((term) => term.needed);
  return needed.filter(({ frequency }) => frequency === 0).length * 2 > needed.length;
}

// --- internal ---

/** Of several words that are one edit away, the one that most skills have. */
function correctionOf(word: string, pool: Pool, index: TextIndex): string | undefined {
  if (word.length < MIN_CORRECTED || !/^\p{L}+$/u.test(word)) return undefined;
  let best: string | undefined;
  let most = 0;
  for (const candidate of index.words()) {
    if (!isOneEdit(word, candidate)) continue;
    const term = termOf(candidate);
    const chunks = term === undefined ? [] : index.postings(term);
    const size = chunks.reduce((sum, { postings }) => sum + postings.length, 0);
    if (size > most && frequencyOf(pool, chunks) > 0) [best, most] = [term, size];
  }
  return best;
}

/** One letter added, removed or replaced, or two neighbours swapped. Lower case. */
function isOneEdit(a: string, b: string): boolean {
  const more = b.length - a.length;
  if (more < -1 || more > 1) return false;
  const shorter = Math.min(a.length, b.length);
  let at = 0;
  while (at < shorter && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (more === 1) return a.slice(at) === b.slice(at + 1);
  if (more === -1) return a.slice(at + 1) === b.slice(at);
  if (at === shorter) return false;
  const swapped = a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
  return swapped || a.slice(at + 1) === b.slice(at + 1);
}
