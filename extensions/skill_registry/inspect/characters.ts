import { codeOf, hiddenCharacters, tagText } from '../../../lib/text/index.ts';
import type { Check } from './findings.ts';
import { type Finding, listChecks, quote } from './findings.ts';
import { rawLines } from './scanned-line.ts';

/** Characters that are not seen, and text that a preview does not show, where there is more of it than before. */
export function characterChecks(before: string, after: string): readonly Check[] {
  return listChecks('characters', [...newCharacters(before, after), ...newComments(before, after)]);
}

// --- internal ---

interface Seen {
  count: number;
  /** Offset of the first, and of the first on a line that is new. */
  first: number;
  firstNew?: number;
  /** What tag characters say. */
  text: string;
}

const NAMES: Readonly<Record<string, string>> = {
  '\u00ad': 'soft hyphen',
  '\u061c': 'bidi mark',
  '\u200b': 'zero-width space',
  '\u200c': 'zero-width non-joiner',
  '\u200d': 'zero-width joiner',
  '\u200e': 'bidi mark',
  '\u200f': 'bidi mark',
  '\u202a': 'bidi embedding',
  '\u202b': 'bidi embedding',
  '\u202c': 'end of a bidi embedding',
  '\u202d': 'bidi override',
  '\u202e': 'bidi override',
  '\u2060': 'word joiner',
  '\u2066': 'bidi isolate',
  '\u2067': 'bidi isolate',
  '\u2068': 'bidi isolate',
  '\u2069': 'end of a bidi isolate',
  '\ufeff': 'zero-width space',
};
const MAX_SAID = 400;

function newCharacters(before: string, after: string): readonly Finding[] {
  const seen = characters(after);
  if (seen.size === 0) return [];
  const old = characters(before);
  const more = [...seen].filter(([key, { count }]) => count > (old.get(key)?.count ?? 0));
  const oldLines = new Set([...rawLines(before)].map(({ raw }) => raw));
  markNewLines(after, oldLines, seen);
  const lineOf = lineFinder(after);
  return more.map(([key, { count, first, firstNew, text }]) => {
    const added = count - (old.get(key)?.count ?? 0);
    const what = `${added} ${added === 1 ? 'character' : 'characters'} that cannot be seen, ${nameOf(key)}`;
    const said = text === '' ? '' : `, which say ${quote(text)}`;
    return { key, level: 'warning', what: what + said, line: lineOf(firstNew ?? first) };
  });
}

const TAGS = 'tag characters';

/** Tag characters and variation selectors count together: they spell something only in a row. */
function keyOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code >= 0xe0000 && code <= 0xe007f) return TAGS;
  if ((code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef)) return 'variation selectors';
  return char;
}

function nameOf(key: string): string {
  if ([...key].length > 1) return key;
  return `${codeOf(key)} (${NAMES[key] ?? (/\p{Cc}/u.test(key) ? 'control' : 'invisible')})`;
}

function characters(text: string): Map<string, Seen> {
  const seen = new Map<string, Seen>();
  for (const { char, at } of hiddenCharacters(text)) {
    // The mark of the encoding, and half of a line end.
    if ((char === '\ufeff' && at === 0) || (char === '\r' && text[at + 1] === '\n')) continue;
    const key = keyOf(char);
    const entry = seen.get(key) ?? { count: 0, first: at, text: '' };
    entry.count++;
    if (key === TAGS && entry.text.length < MAX_SAID) entry.text += tagText(char);
    seen.set(key, entry);
  }
  return seen;
}

function markNewLines(text: string, oldLines: ReadonlySet<string>, seen: ReadonlyMap<string, Seen>): void {
  let waiting = seen.size;
  for (const { raw, start } of rawLines(text)) {
    if (waiting === 0) return;
    if (oldLines.has(raw)) continue;
    for (const { char, at } of hiddenCharacters(raw)) {
      const entry = seen.get(keyOf(char));
      if (!entry || entry.firstNew !== undefined) continue;
      entry.firstNew = start + at;
      waiting--;
    }
  }
}

/** HTML comments, and link definitions that people use as comments. */
function* newComments(before: string, after: string): Generator<Finding> {
  const old = new Set([...comments(before)].map(({ text }) => text));
  const lineOf = lineFinder(after);
  for (const { text, at } of comments(after)) {
    if (old.has(text)) continue;
    const what = 'A comment, which models read and a preview does not show';
    yield { key: text, level: 'warning', what, quoted: text, line: lineOf(at) };
  }
}

function* comments(text: string): Generator<{ readonly text: string; readonly at: number }> {
  for (let at = text.indexOf('<!--'); at !== -1; ) {
    const close = text.indexOf('-->', at + 4);
    const end = close === -1 ? text.length : close;
    const inner = text.slice(at + 4, end).trim();
    if (inner !== '') yield { text: inner, at };
    at = text.indexOf('<!--', end + 3);
  }
  for (const match of text.matchAll(/^\[(?:\/\/|comment|_metadata_)[^\]\n]{0,100}\]: ?[^\r\n]{1,1000}/gim)) {
    yield { text: match[0], at: match.index };
  }
}

/** Offsets to 1-based lines; asked in any order. */
function lineFinder(text: string): (offset: number) => number {
  let starts: readonly number[] | undefined;
  return (offset) => {
    starts ??= [...rawLines(text)].map(({ start }) => start);
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return Math.max(1, low);
  };
}
