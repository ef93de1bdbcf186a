import { foldLine, HIDDEN, isJoining, matchesOf, shorten } from './line.ts';

export interface HiddenCharacter {
  readonly char: string;
  /** Offset in UTF-16 units. */
  readonly at: number;
}

/**
 * The characters of a text that a reviewer cannot see, or that change how other characters are shown: controls other than tab and
 * line feed, bidi and zero-width marks, tag characters, fillers, lone surrogates. Joiners and emoji selectors count when they join
 * nothing.
 */
export function* hiddenCharacters(text: string): Generator<HiddenCharacter> {
  for (const match of matchesOf(text, HIDDEN)) {
    const char = match[0];
    if (char !== '\n' && char !== '\t' && !isJoining(text, match.index, char)) yield { char, at: match.index };
  }
}

/** The text with each hidden character written as `⟦U+202E⟧`. It cannot be reversed: the text may hold this notation itself. */
export function showHidden(text: string): string {
  return text.replace(HIDDEN, (char, at: number) =>
    char === '\n' || char === '\t' || isJoining(text, at, char) ? char : notation(char),
  );
}

/** A path or the name of a file, with every hidden character, line ends and tabs too, written as `⟦U+202E⟧`. */
export function showName(name: string): string {
  return showHidden(name).replace(/[\n\t]/g, notation);
}

/** Of these names the one that a name was shown for; the name itself when there is none, or more than one. */
export function nameShownAs(shown: string, names: readonly string[]): string {
  if (!shown.includes('⟦U+') || names.includes(shown)) return shown;
  const [found, ...others] = names.filter((name) => showName(name) === shown);
  return found !== undefined && others.length === 0 ? found : shown;
}

/** A line whose last blank is written as `⟦U+0020⟧`, because a blank at the end is invisible. */
export function showTrailingBlank(line: string): string {
  const last = line.at(-1) ?? '';
  return /\s/.test(last) ? line.slice(0, -1) + notation(last) : line;
}

/** `⟦U+202E⟧` */
export function notation(char: string): string {
  return `⟦${codePointText(char)}⟧`;
}

/** `U+202E` */
export function codePointText(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** A text on one line: white space folded, hidden characters made visible, cut to about `limit` characters. */
export function oneLine(text: string, limit: number): string {
  // Cut first: the text may be megabytes.
  const start = text.length > limit * 4 ? `${text.slice(0, limit * 4)}…` : text;
  return foldLine(shorten(showHidden(start.replace(/\s+/g, ' ').trim()), limit));
}
