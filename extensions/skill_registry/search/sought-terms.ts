import { MIN_CORRECTED, type PostingChunk, type TextIndex, termOf } from '../../../lib/text-index/index.ts';
import { oneEditAway } from './corrections.ts';
import type { Pool } from './pool.ts';
import type { Query } from './query.ts';
import { occursIn, type SoughtTerm } from './rank.ts';

/** Longer queries are sentences, in which a strange word is a name and no slip. */
const MAX_CORRECTED_TERMS = 8;
const CORRECTED_WEIGHT = 0.8;

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
  const correctable = corrected && terms.length <= MAX_CORRECTED_TERMS;
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
  for (const candidate of oneEditAway(word, index.words())) {
    const term = termOf(candidate);
    const chunks = term === undefined ? [] : index.postings(term);
    const size = chunks.reduce((sum, { postings }) => sum + postings.length, 0);
    if (term !== undefined && size > most && occursIn(pool, chunks)) [best, most] = [{ term, chunks }, size];
  }
  return best;
}
