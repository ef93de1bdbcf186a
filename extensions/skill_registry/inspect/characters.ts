import { codePointText, hiddenCharacters, tagText } from '../../../lib/text/index.ts';
import type { Check } from './findings.ts';
import { type Fact, listChecks, quote } from './findings.ts';
import { countUpTo, rawLines } from './scanned-line.ts';

/** Invisible characters and hidden comments, where `after` has more than `before`. */
export function characterChecks(before: string, after: string): readonly Check[] {
  return listChecks('characters', [...newCharacters(before, after), ...newComments(before, after)]);
}

// --- internal ---

interface Seen {
  count: number;
  /** Offset of the first one, and of the first one in a new line. */
  first: number;
  firstNew?: number;
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

function newCharacters(before: string, after: string): readonly Fact[] {
  const seen = characters(after);
  if (seen.size === 0) return [];
  const oldCharacters = characters(before);
  const more = [...seen].filter(([key, { count }]) => count > (oldCharacters.get(key)?.count ?? 0));
  const oldLines = new Set([...rawLines(before)].map(({ raw }) => raw));
  markNewLines(after, oldLines, seen);
  const lineOf = lineFinder(after);
  return more.map(([key, { count, first, firstNew, text }]) => {
    const added = count - (oldCharacters.get(key)?.count ?? 0);
    const what = `${added} invisible ${added === 1 ? 'character' : 'characters'}: ${characterName(key)}`;
    const spelled = text === '' ? '' : `, which spell ${quote(text)}`;
    return { key, level: 'warn', what: what + spelled, line: lineOf(firstNew ?? first) };
  });
}

const TAGS = 'tag characters';

/** Tag characters are counted together, and so are variation selectors: only a sequence of them spells text. */
function characterKey(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code >= 0xe0000 && code <= 0xe007f) return TAGS;
  if ((code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef)) return 'variation selectors';
  return char;
}

function characterName(key: string): string {
  if ([...key].length > 1) return key;
  return `${codePointText(key)} (${NAMES[key] ?? (/\p{Cc}/u.test(key) ? 'control' : 'invisible')})`;
}

function characters(text: string): Map<string, Seen> {
  const seen = new Map<string, Seen>();
  for (const { char, at } of hiddenCharacters(text)) {
    // A byte order mark, or the CR of a CRLF.
    if ((char === '\ufeff' && at === 0) || (char === '\r' && text[at + 1] === '\n')) continue;
    const key = characterKey(char);
    const entry = seen.get(key) ?? { count: 0, first: at, text: '' };
    entry.count++;
    if (key === TAGS && entry.text.length < MAX_SAID) entry.text += tagText(char);
    seen.set(key, entry);
  }
  return seen;
}

function markNewLines(text: string, oldLines: ReadonlySet<string>, seen: ReadonlyMap<string, Seen>): void {
  let toMark = seen.size;
  for (const { raw, start } of rawLines(text)) {
    if (toMark === 0) return;
    if (oldLines.has(raw)) continue;
    for (const { char, at } of hiddenCharacters(raw)) {
      const entry = seen.get(characterKey(char));
      if (!entry || entry.firstNew !== undefined) continue;
      entry.firstNew = start + at;
      toMark--;
    }
  }
}

function* newComments(before: string, after: string): Generator<Fact> {
  const oldComments = new Set([...comments(before)].map(({ text }) => text));
  const lineOf = lineFinder(after);
  for (const { text, at } of comments(after)) {
    if (oldComments.has(text)) continue;
    const what = 'A comment, which models read and a preview does not show';
    yield { key: text, level: 'info', what, quoted: text, line: lineOf(at) };
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

function lineFinder(text: string): (offset: number) => number {
  let starts: readonly number[] | undefined;
  return (offset) => {
    starts ??= [...rawLines(text)].map(({ start }) => start);
    return Math.max(1, countUpTo(starts, offset));
  };
}
