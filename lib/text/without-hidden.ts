import { codePoints } from './line.ts';

/** For patterns with the flag `u`. */
const TAG = '\\u{e0000}-\\u{e007f}';
const SELECTOR: string = '\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}';
/** Only the three flags that Unicode recommends for interchange: other sequences could spell short words. */
export const FLAG_EMOJI: string = `\\u{1f3f4}(?:${['gbeng', 'gbsct', 'gbwls'].map(asTags).join('|')})\\u{e007f}`;

export interface TextWithoutHidden {
  readonly text: string;
  readonly leftOut: number;
}

export interface HiddenText {
  /** Number of characters that `withoutHidden` leaves out. */
  readonly hidden: number;
  /** In ASCII, by tag characters; at most 400 characters. */
  readonly says: string;
  /** Number of characters that change the direction of text (U+202A to U+202E, U+2066 to U+2069). */
  readonly turned: number;
  /** Offsets; -1: none. */
  readonly firstHidden: number;
  readonly firstTurned: number;
}

/**
 * Leaves out what models read and people cannot see: Unicode tag characters (U+E0000 to U+E007F), except in the flags
 * of England, Scotland and Wales, and variation selectors after another one.
 */
export function withoutHidden(text: string): TextWithoutHidden {
  if (!MAY_HIDE.test(text)) return { text, leftOut: 0 };
  let leftOut = 0;
  const kept = text.replace(HIDDEN, (found) => {
    if (isFlagEmoji(found)) return found;
    leftOut += codePoints(found);
    return '';
  });
  return { text: kept, leftOut };
}

/** Adds a line with the number of hidden characters, unless it is 0. */
export function withNote({ text, leftOut }: TextWithoutHidden): string {
  if (leftOut === 0) return text;
  return `${text}\n\n[${leftOut === 1 ? '1 hidden character was' : `${leftOut} hidden characters were`} left out of this text.]`;
}

/** Undefined when nothing is hidden. */
export function findHiddenText(text: string): HiddenText | undefined {
  if (!MAY_HIDE.test(text) && !TURNS.test(text)) return undefined;
  let [hidden, says, firstHidden] = [0, '', -1];
  for (const { 0: found, index } of text.matchAll(HIDDEN)) {
    if (isFlagEmoji(found)) continue;
    if (hidden === 0) firstHidden = index;
    hidden += codePoints(found);
    if (says.length < MAX_SAID) says += tagText(found);
  }
  const turned = text.match(ALL_TURNS)?.length ?? 0;
  if (hidden + turned === 0) return undefined;
  return { hidden, says: says.slice(0, MAX_SAID), turned, firstHidden, firstTurned: text.search(TURNS) };
}

/** The ASCII text of tag characters. */
export function tagText(text: string): string {
  return text.replace(/./gsu, (char) => {
    const code = (char.codePointAt(0) ?? 0) - 0xe0000;
    return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : '';
  });
}

/** For a match of a pattern that begins with `FLAG_EMOJI`. */
export function isFlagEmoji(found: string): boolean {
  return found.startsWith('\u{1f3f4}');
}

// --- internal ---

const MAX_SAID = 400;

const HIDDEN = new RegExp(`${FLAG_EMOJI}|[${TAG}][${TAG}${SELECTOR}]*|(?<=[${SELECTOR}])[${TAG}${SELECTOR}]+`, 'gu');
/** A fast test: most texts have none of these. */
const MAY_HIDE = new RegExp(`[${TAG}]|[${SELECTOR}]{2}`, 'u');
const TURNS = /[\u202a-\u202e\u2066-\u2069]/;
const ALL_TURNS = new RegExp(TURNS, 'g');

function asTags(ascii: string): string {
  return ascii.replace(/./g, (char) => `\\u{${(0xe0000 + char.charCodeAt(0)).toString(16)}}`);
}
