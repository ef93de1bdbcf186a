import { foldLine, HIDDEN, isJoining, matchesOf, shorten } from './line.ts';

/** One that is shown although it does not show itself. */
export interface HiddenCharacter {
  readonly char: string;
  /** Offset in UTF-16 units. */
  readonly at: number;
}

/**
 * The characters of a text that a reviewer would not see, or that change what is seen: controls other than tab and line
 * feed, bidi and zero-width marks, tag characters, fillers, lone surrogates. Joiners and emoji selectors count where
 * nothing is joined.
 */
export function* hiddenCharacters(text: string): Generator<HiddenCharacter> {
  for (const match of matchesOf(text, HIDDEN)) {
    const char = match[0];
    if (char !== '\n' && char !== '\t' && !isJoining(text, match.index, char)) yield { char, at: match.index };
  }
}

/** With each hidden character written as `⟦U+202E⟧`. Not to be read back: the text may hold that notation itself. */
export function showHidden(text: string): string {
  return text.replace(HIDDEN, (char, at: number) =>
    char === '\n' || char === '\t' || isJoining(text, at, char) ? char : notation(char),
  );
}

/** Of a line: with the blank at its end written as `⟦U+0020⟧`, where nobody sees it. */
export function showEnd(line: string): string {
  const last = line.at(-1) ?? '';
  return /\s/.test(last) ? line.slice(0, -1) + notation(last) : line;
}

/** `⟦U+202E⟧` */
export function notation(char: string): string {
  return `⟦${codeOf(char)}⟧`;
}

/** `U+202E` */
export function codeOf(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** What a stranger wrote, on one line: white space folded, hidden characters shown, cut to about `limit` characters. */
export function oneLine(text: string, limit: number): string {
  // Cut first: the text may be megabytes, and only its beginning is wanted.
  const start = text.length > limit * 4 ? `${text.slice(0, limit * 4)}…` : text;
  return foldLine(shorten(showHidden(start.replace(/\s+/g, ' ').trim()), limit));
}
