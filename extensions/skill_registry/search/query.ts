import { foldLine } from '../../../lib/text/index.ts';
import {
  MIN_CORRECTED,
  type PostingChunk,
  type QueryTerms,
  queryTerms,
  type TextIndex,
  termOf,
} from '../../../lib/text-index/index.ts';
import type { Pool } from './pool.ts';
import { occursIn, type SoughtTerm } from './rank.ts';

/** What somebody asks for. Nothing in it is syntax but a pair of double quotes. */
export interface Query extends QueryTerms {
  /**
   * Stood in quotes: has to occur as it is, letter case and white space aside. Lower case, folded. Quotes in a longer text are
   * those of its author, and mean nothing.
   */
  readonly phrases: readonly string[];
  /** Nothing stands beside the phrases. */
  readonly onlyPhrases: boolean;
}

/** Of a prompt no more terms are looked at. */
const MAX_TERMS = 128;
/** Longer queries are sentences: quotes in them are those of their author, and a strange word is a name and no slip. */
const SENTENCE_TERMS = 8;
const QUOTED = /["“”]([^"“”]+)["“”]/g;
/** What a corrected word counts. */
const CORRECTED_WEIGHT = 0.8;

export function parseQuery(text: string): Query {
  const terms = queryTerms(text, MAX_TERMS);
  const quoted = terms.terms.length > SENTENCE_TERMS ? [] : [...text.matchAll(QUOTED)];
  const phrases = quoted.map(([, phrase = '']) => foldLine(phrase).toLowerCase()).filter((phrase) => / /.test(phrase));
  const onlyPhrases = phrases.length > 0 && text.replace(QUOTED, '').trim() === '';
  return { ...terms, phrases, onlyPhrases };
}

/**
 * Looks the terms of a query up. A word that no skill has is taken for the word of a header that is one edit away.
 *
 * @param corrected - Whether to look for such words.
 */
export function soughtTerms(
  { terms, optional, words }: Query,
  pool: Pool,
  index: TextIndex,
  corrected: boolean,
): { readonly sought: readonly SoughtTerm[]; readonly terms: ReadonlySet<string> } {
  const sought: SoughtTerm[] = [];
  const used = new Set<string>();
  const use = (term: string, chunks: readonly PostingChunk[], weight: number, needed: boolean): void => {
    used.add(term);
    sought.push({ chunks, weight, needed });
  };
  const correctable = corrected && terms.length <= SENTENCE_TERMS;
  for (const term of terms) {
    const chunks = index.postings(term);
    const known = occursIn(pool, chunks);
    const correction = correctable && !known ? correctionOf(words.get(term) ?? term, pool, index) : undefined;
    if (correction) use(correction.term, correction.chunks, CORRECTED_WEIGHT, true);
    // A number or an id that no skill has is what the task is done to, not what it is.
    else use(term, chunks, 1, known || !/\d/.test(term));
  }
  for (const term of optional) use(term, index.postings(term), 1, false);
  return { sought, terms: used };
}

// --- internal ---

/** Of several the one that most skills have. */
function correctionOf(
  word: string,
  pool: Pool,
  index: TextIndex,
): { readonly term: string; readonly chunks: readonly PostingChunk[] } | undefined {
  if (word.length < MIN_CORRECTED || !/^\p{L}+$/u.test(word)) return undefined;
  let best: { term: string; chunks: readonly PostingChunk[] } | undefined;
  let most = 0;
  for (const candidate of index.words()) {
    if (!isOneEdit(word, candidate)) continue;
    const term = termOf(candidate);
    const chunks = term === undefined ? [] : index.postings(term);
    const size = chunks.reduce((sum, { postings }) => sum + postings.length, 0);
    if (term !== undefined && size > most && occursIn(pool, chunks)) [best, most] = [{ term, chunks }, size];
  }
  return best;
}

/** Whether one becomes the other by a letter more, less, another one, or two that change their order. Lower case. */
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
