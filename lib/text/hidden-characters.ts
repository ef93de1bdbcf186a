import { foldLine, HIDDEN, isJoining, matchesOf, shorten } from './line.ts';

export interface HiddenCharacter {
  readonly char: string;
  /** In UTF-16 units. */
  readonly at: number;
}

/**
 * What a reviewer cannot see, and what changes how other characters are shown: controls other than tab and line feed,
 * bidi and zero-width marks, tag characters, fillers, lone surrogates; joiners and emoji selectors that join nothing.
 */
export function* hiddenCharacters(text: string): Generator<HiddenCharacter> {
  for (const { 0: char, index: at } of matchesOf(text, HIDDEN)) if (!isJoining(text, at, char)) yield { char, at };
}

/** Writes hidden characters as `⟦U+202E⟧`. Not reversible: the text may contain this notation itself. */
export function showHidden(text: string): string {
  return text.replace(HIDDEN, (char, at: number) => (isJoining(text, at, char) ? char : notation(char)));
}

/** For a path or a name: line ends and tabs become `⟦U+202E⟧` too. */
export function showName(name: string): string {
  return showHidden(name).replace(/[\n\t]/g, notation);
}

/** The name that was shown like this; `shown` when there is none, or more than one. */
export function nameShownAs(shown: string, names: readonly string[]): string {
  if (!shown.includes('⟦U+') || names.includes(shown)) return shown;
  const [found, ...others] = names.filter((name) => showName(name) === shown);
  return found !== undefined && others.length === 0 ? found : shown;
}

/** Writes a blank at the end, which is invisible, as `⟦U+0020⟧`. */
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

/** White space folded, hidden characters shown, cut to about `limit` characters. */
export function oneLine(text: string, limit: number): string {
  // Cut first: the text may have megabytes.
  const start = text.length > limit * 4 ? `${text.slice(0, limit * 4)}…` : text;
  return foldLine(shorten(showHidden(start.replace(/\s+/g, ' ').trim()), limit));
}
