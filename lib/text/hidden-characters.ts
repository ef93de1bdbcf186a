import { foldLine, INVISIBLE, matchesOf, shorten } from './line.ts';

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

// --- internal ---

const HIDDEN = new RegExp(`${INVISIBLE.source}|\\p{Surrogate}`, 'gu');
const HIDDEN_ALONE = new RegExp(`^(?:${HIDDEN.source})$`, 'u');

/** True where a joiner or a selector does what it is for: in Persian and Indic words, and in emoji. */
function isJoining(text: string, at: number, char: string): boolean {
  const before = charBefore(text, at);
  switch (char) {
    case '\ufe0e':
    case '\ufe0f':
      return /^[0-9#*]$/.test(before) || isWritten(before);
    case '\u200c':
    case '\u200d':
      return (before === '\ufe0f' || isWritten(before)) && isWritten(charAt(text, at + 1));
    default:
      return false;
  }
}

/** A visible character beyond ASCII. */
function isWritten(char: string): boolean {
  return char > '\u007f' && !HIDDEN_ALONE.test(char);
}

function charAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function charBefore(text: string, at: number): string {
  const pair = at >= 2 ? charAt(text, at - 2) : '';
  return pair.length === 2 ? pair : charAt(text, at - 1);
}
