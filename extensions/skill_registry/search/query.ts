import { foldLine } from '../../../lib/text/index.ts';
import { type QueryTerms, queryTerms } from '../../../lib/text-index/index.ts';

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
/** Longer queries are sentences. */
const MAX_PHRASED_TERMS = 8;
const QUOTED = /["“”]([^"“”]+)["“”]/g;

export function parseQuery(text: string): Query {
  const terms = queryTerms(text, MAX_TERMS);
  const quoted = terms.terms.length > MAX_PHRASED_TERMS ? [] : [...text.matchAll(QUOTED)];
  const phrases = quoted.map(([, phrase = '']) => foldLine(phrase).toLowerCase()).filter((phrase) => / /.test(phrase));
  const onlyPhrases = phrases.length > 0 && text.replace(QUOTED, '').trim() === '';
  return { ...terms, phrases, onlyPhrases };
}
