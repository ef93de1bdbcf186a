/** A text as models and people get it, and how many characters of it they do not get. */
export interface HandedText {
  readonly text: string;
  readonly leftOut: number;
}

/** A text in which something is hidden, or not shown as it is read. */
export interface HiddenText {
  /** Characters that carry a text which nobody sees: see `withoutHidden`. */
  readonly hidden: number;
  /** What the tag characters among them say, in ASCII; at most 400 characters. */
  readonly says: string;
  /** Characters that change the direction of what stands around them (U+202A to U+202E, U+2066 to U+2069). */
  readonly turned: number;
  /** Offsets of the first of each; -1 when there is none. */
  readonly firstHidden: number;
  readonly firstTurned: number;
}

/**
 * The text without characters that models read and people do not see: Unicode tag characters (U+E0000 to U+E007F) outside the
 * three flags that are made of them (England, Scotland, Wales), and variation selectors after another one.
 */
export function withoutHidden(text: string): HandedText {
  if (!MAY_HIDE.test(text)) return { text, leftOut: 0 };
  let leftOut = 0;
  const kept = text.replace(HIDDEN, (found) => {
    if (isFlag(found)) return found;
    leftOut += lengthOf(found);
    return '';
  });
  return { text: kept, leftOut };
}

/** The text, with a line at its end that says how many characters were left out: for where there is no other place for it. */
export function withNote({ text, leftOut }: HandedText): string {
  if (leftOut === 0) return text;
  return `${text}\n\n[${leftOut === 1 ? '1 hidden character was' : `${leftOut} hidden characters were`} left out of this text.]`;
}

/** What is hidden or turned in a text; undefined when nothing is. */
export function findHiddenText(text: string): HiddenText | undefined {
  if (!MAY_HIDE.test(text) && !TURNS.test(text)) return undefined;
  let [hidden, says, firstHidden] = [0, '', -1];
  for (const { 0: found, index } of text.matchAll(HIDDEN)) {
    if (isFlag(found)) continue;
    if (hidden === 0) firstHidden = index;
    hidden += lengthOf(found);
    if (says.length < MAX_SAID) says += tagText(found);
  }
  const turned = text.match(ALL_TURNS)?.length ?? 0;
  if (hidden + turned === 0) return undefined;
  return { hidden, says: says.slice(0, MAX_SAID), turned, firstHidden, firstTurned: text.search(TURNS) };
}

/** What tag characters say in ASCII; nothing for any other character. */
export function tagText(text: string): string {
  return text.replace(/./gsu, (char) => {
    const code = (char.codePointAt(0) ?? 0) - 0xe0000;
    return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : '';
  });
}

// --- internal ---

const MAX_SAID = 400;

const TAG = '\\u{e0000}-\\u{e007f}';
const SELECTOR = '\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}';
/** The flags that Unicode recommends for interchange: others would be a way to write short words. */
const FLAG = `\\u{1f3f4}(?:${['gbeng', 'gbsct', 'gbwls'].map(asTags).join('|')})\\u{e007f}`;
const HIDDEN = new RegExp(`${FLAG}|[${TAG}][${TAG}${SELECTOR}]*|(?<=[${SELECTOR}])[${TAG}${SELECTOR}]+`, 'gu');
/** Most texts hold none of these. */
const MAY_HIDE = new RegExp(`[${TAG}]|[${SELECTOR}]{2}`, 'u');
const TURNS = /[\u202a-\u202e\u2066-\u2069]/;
const ALL_TURNS = new RegExp(TURNS, 'g');

function asTags(ascii: string): string {
  return ascii.replace(/./g, (char) => `\\u{${(0xe0000 + char.charCodeAt(0)).toString(16)}}`);
}

function isFlag(found: string): boolean {
  return found.startsWith('\u{1f3f4}');
}

function lengthOf(text: string): number {
  return [...text].length;
}
