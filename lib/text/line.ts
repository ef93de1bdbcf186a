import { withFallback } from '../errors/index.ts';

/** Invisible, or changes how others are shown: controls, zero-width and bidi marks, tag characters, fillers. */
const INVISIBLE = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;
/** With lone surrogates, without line feed and tab. */
export const HIDDEN: RegExp = new RegExp(`(?![\\n\\t])${INVISIBLE.source}|\\p{Surrogate}`, 'gu');
/** Kept when they join: Persian, Indic scripts and emoji need them. */
const KEPT = new Set(['\u200c', '\u200d', '\ufe0f']);

/** A fast test: most texts need no change. */
const TO_FOLD = /[^\S ]|^ | $| {2}|\p{Surrogate}|[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/u;

/** A faster one: most lines are printable ASCII with single blanks inside. */
const IS_PLAIN = /^(?:[!-~]+(?: [!-~]+)*)?$/;
const IS_PRINTABLE = /^[\t -~]*$/;

/** White space folded, invisible characters removed, lone surrogates replaced by U+FFFD. */
export function foldLine(text: string): string {
  if (IS_PLAIN.test(text)) return text;
  if (IS_PRINTABLE.test(text)) return text.trim().replace(/[\t ]{2,}|\t/g, ' ');
  if (!TO_FOLD.test(text)) return text;
  return (
    text
      // First: removing a character between two surrogates would join them.
      .replace(/\p{Surrogate}/gu, '\ufffd')
      .replace(/\s+/g, ' ')
      .replace(INVISIBLE, (char, at: number, whole: string) =>
        KEPT.has(char) && isJoining(whole, at, char) ? char : '',
      )
      .replace(/ {2,}/g, ' ')
      .trim()
  );
}

export function listed(names: readonly string[], most = 10): string {
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${more}`;
}

export type Level = 'info' | 'warn' | 'block';

/** What people are told of a finding, at the page and in a terminal. */
export function levelWord(level: Level): string {
  return { info: 'info', warn: 'warning', block: 'attack' }[level];
}

export function formatNumber(value: number): string {
  // The first use of a locale costs 8 ms and 7 MiB.
  return Number.isSafeInteger(value) ? `${value}`.replace(/\B(?=(?:\d{3})+$)/g, ',') : value.toLocaleString('en-US');
}

/** `1 skill`, `1,200 skills`. */
export function plural(value: number, word: string): string {
  return `${formatNumber(value)} ${word}${value === 1 ? '' : 's'}`;
}

/** Such a text cannot be an id. */
export function needsFolding(text: string): boolean {
  return foldLine(text) !== text;
}

/** Without percent signs; a text that cannot be decoded stays as it is. */
export function decodedAddress(text: string): string {
  return withFallback(() => decodeURIComponent(text), text);
}

/** Not UTF-16 units. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** At the end of a word: at most `limit` UTF-16 units and an ellipsis. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit + 1);
  const space = cut.lastIndexOf(' ');
  const kept = space > limit / 2 ? cut.slice(0, space) : cut.slice(0, limit);
  return `${kept.replace(/[\ud800-\udbff]$/, '').replace(/[\s,.;:!?-]+$/, '')}…`;
}

/** For a global pattern without empty matches. `matchAll` copies the pattern, which takes longer than most searches. */
export function matchesOf(text: string, pattern: RegExp): readonly RegExpExecArray[] {
  const matches: RegExpExecArray[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) matches.push(match);
  return matches;
}

/** Whether the joiner or selector `char` joins: in Persian and Indic words, and in emoji. */
export function isJoining(text: string, at: number, char: string): boolean {
  if (!/^(?:\u200c|\u200d|\ufe0e|\ufe0f)$/.test(char)) return false;
  const before = [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? '';
  if (char >= '\ufe0e') return /^[0-9#*]$/.test(before) || isVisibleBeyondAscii(before);
  const isAfterEmoji = before === '\ufe0f' && isJoining(text, at - 1, before);
  return (isVisibleBeyondAscii(before) || isAfterEmoji) && isVisibleBeyondAscii([...text.slice(at + 1, at + 3)][0]);
}

// --- internal ---

const HIDDEN_ALONE = new RegExp(`^(?:${HIDDEN.source})$`, 'u');

function isVisibleBeyondAscii(char = ''): boolean {
  return char > '\u007f' && !HIDDEN_ALONE.test(char);
}
