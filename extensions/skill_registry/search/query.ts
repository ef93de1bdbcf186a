import { foldLine } from '../../../lib/text/index.ts';
import { MIN_CORRECTED, type QueryTerms, queryTerms, type TextIndex, termOf } from '../../../lib/text-index/index.ts';
import type { Pool } from './pool.ts';
import { frequencyOf, type RankedTerm } from './rank.ts';

/** A parsed query. Only pairs of double quotes are syntax. */
export interface Query extends QueryTerms {
  /**
   * Texts in quotes, which must occur exactly except for letter case and white space. Lower case, folded. Empty for a sentence,
   * where quotes are ordinary characters.
   */
  readonly phrases: readonly string[];
  /** The query has nothing but phrases. */
  readonly onlyPhrases: boolean;
}

/** At most this many terms of a prompt are used. */
const MAX_TERMS = 128;
/** A query with more terms is a sentence: quotes are ordinary characters, and an unknown word is not corrected. */
const SENTENCE_TERMS = 8;
const QUOTED = /["“”]([^"“”]+)["“”]/g;
/** Weight of a corrected word; other words have 1. */
const CORRECTED_WEIGHT = 0.8;

export function parseQuery(text: string): Query {
  const terms = queryTerms(text, MAX_TERMS);
  const quoted = terms.terms.length > SENTENCE_TERMS ? [] : [...text.matchAll(QUOTED)];
  const phrases = quoted.map(([, phrase = '']) => foldLine(phrase).toLowerCase()).filter((phrase) => / /.test(phrase));
  const onlyPhrases = phrases.length > 0 && text.replace(QUOTED, '').trim() === '';
  return { ...terms, phrases, onlyPhrases };
}

/**
 * Looks up the terms of a query. A word that no skill has is replaced by a word of a header that differs by one edit, unless most
 * words are unknown: those are no slips, but another topic or language.
 *
 * @param corrected - Whether to correct words.
 */
export function lookUpTerms(
  { terms, optional, words }: Query,
  pool: Pool,
  index: TextIndex,
  corrected: boolean,
): { readonly found: readonly RankedTerm[]; readonly terms: ReadonlySet<string> } {
  const lookUp = (term: string, weight = 1): RankedTerm & { readonly term: string } => {
    const chunks = index.postings(term);
    const frequency = frequencyOf(pool, chunks);
    // A number or an id that no skill has says nothing about the kind of task.
    return { term, chunks, weight, needed: frequency > 0 || !/\d/.test(term), frequency };
  };
  const asked = terms.map((term) => lookUp(term));
  const correctable = corrected && terms.length <= SENTENCE_TERMS && (terms.length === 1 || !isMostlyUnknown(asked));
  const found = asked.map((one) => {
    if (one.frequency > 0) return one;
    const correction = correctable ? correctionOf(words.get(one.term) ?? one.term, pool, index) : undefined;
    return correction ? lookUp(correction, CORRECTED_WEIGHT) : one;
  });
  const all = [...found, ...optional.map((term) => ({ ...lookUp(term), needed: false }))];
  return { found: all, terms: new Set(all.map(({ term }) => term)) };
}

/** Whether no skill has most of the words: what was asked is another topic, or in another language. */
export function isMostlyUnknown(terms: readonly RankedTerm[]): boolean {
  const needed = terms.filter((term) => term.needed);
  return needed.filter(({ frequency }) => frequency === 0).length * 2 > needed.length;
}

// --- internal ---

/** The word that is one edit away; of several the one that most skills have. */
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

/** Whether two words differ by one added, removed or replaced letter, or by two swapped neighbours. Lower case. */
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
