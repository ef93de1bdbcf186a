/**
 * Characters that show nothing, or change how what follows is shown: controls, zero-width and bidi marks, tag characters,
 * fillers.
 */
const INVISIBLE = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;
/** As `INVISIBLE`, and lone surrogates. */
export const HIDDEN: RegExp = new RegExp(`${INVISIBLE.source}|\\p{Surrogate}`, 'gu');
/** The joiners and the emoji selector stay where they join: Persian, Indic scripts and emoji are written with them. */
const KEPT = new Set(['\u200c', '\u200d', '\ufe0f']);

/** Whether there is anything to do: most texts are fine as they are. */
const TO_FOLD = /[^\S ]|^ | $| {2}|\p{Surrogate}|[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/u;

/** One line of plain text: white space folded, invisible characters removed, lone surrogates replaced by U+FFFD. */
export function foldLine(text: string): string {
  if (!TO_FOLD.test(text)) return text;
  return (
    text
      // First, so that nothing removed between two halves makes them a character.
      .replace(/\p{Surrogate}/gu, '\ufffd')
      .replace(/\s+/g, ' ')
      .replace(INVISIBLE, (char, at: number, whole: string) =>
        KEPT.has(char) && isJoining(whole, at, char) ? char : '',
      )
      .replace(/ {2,}/g, ' ')
      .trim()
  );
}

/** True when `foldLine` would change it: such a text cannot be an id. */
export function hasInvisible(text: string): boolean {
  return foldLine(text) !== text;
}

/** Length as people count it: in code points, not UTF-16 units. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Cuts at the end of a word so that at most `limit` code units and an ellipsis are left. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit + 1);
  const space = cut.lastIndexOf(' ');
  const kept = space > limit / 2 ? cut.slice(0, space) : cut.slice(0, limit);
  return `${kept.replace(/[\ud800-\udbff]$/, '').replace(/[\s,.;:!?-]+$/, '')}…`;
}

/**
 * All matches of a global pattern that matches nothing empty. `matchAll` copies the pattern at every call, which is most of
 * the time where the texts are single lines and the pattern knows classes of Unicode.
 */
export function matchesOf(text: string, pattern: RegExp): readonly RegExpExecArray[] {
  const matches: RegExpExecArray[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) matches.push(match);
  return matches;
}

/** True where a joiner or a selector at an offset does what it is for: in Persian and Indic words, and in emoji. */
export function isJoining(text: string, at: number, char: string): boolean {
  const before = charBefore(text, at);
  switch (char) {
    case '\ufe0e':
    case '\ufe0f':
      return /^[0-9#*]$/.test(before) || isWritten(before);
    case '\u200c':
    case '\u200d':
      return (
        (isWritten(before) || (before === '\ufe0f' && isJoining(text, at - 1, before))) &&
        isWritten(charAt(text, at + 1))
      );
    default:
      return false;
  }
}

// --- internal ---

const HIDDEN_ALONE = new RegExp(`^(?:${HIDDEN.source})$`, 'u');

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
