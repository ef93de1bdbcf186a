import { codePointText, hiddenCharacters, tagText } from '../../../../../lib/text/index.ts';
import { countWhile, rawLines } from '../../guard/inspect/lines.ts';
import { type Check, type Fact, listChecks, quote } from './checks.ts';

/** Invisible characters and hidden comments, where `after` has more than `before`. */
export function characterChecks(before: string, after: string): readonly Check[] {
  const lines = [...rawLines(after)];
  const lineAt: LineAt = (offset) => lines[Math.max(0, countWhile(lines, ({ start }) => start <= offset) - 1)];
  return listChecks('characters', [...newCharacters(before, after, lineAt), ...newComments(before, after, lineAt)]);
}

// --- internal ---

type LineAt = (offset: number) => { readonly raw: string; readonly line: number } | undefined;

const NAMES: Readonly<Record<string, string>> = {
  'soft hyphen': '\u00ad',
  'bidi mark': '\u061c\u200e\u200f',
  'zero-width space': '\u200b\ufeff',
  'zero-width non-joiner': '\u200c',
  'zero-width joiner': '\u200d',
  'bidi embedding': '\u202a\u202b',
  'end of a bidi embedding': '\u202c',
  'bidi override': '\u202d\u202e',
  'word joiner': '\u2060',
  'bidi isolate': '\u2066\u2067\u2068',
  'end of a bidi isolate': '\u2069',
};
const MAX_SAID = 400;

function newCharacters(before: string, after: string, lineAt: LineAt): readonly Fact[] {
  const seen = characters(after);
  if (seen.size === 0) return [];
  const old = characters(before);
  const oldLines = new Set([...rawLines(before)].map(({ raw }) => raw));
  return [...seen].flatMap(([key, { offsets, says }]): readonly Fact[] => {
    const added = offsets.length - (old.get(key)?.offsets.length ?? 0);
    if (added <= 0) return [];
    // The first one in a new line.
    const at = offsets.find((offset) => !oldLines.has(lineAt(offset)?.raw ?? '')) ?? offsets[0] ?? 0;
    const what = `${added} invisible ${added === 1 ? 'character' : 'characters'}: ${characterName(key)}`;
    const spelled = says === '' ? '' : `, which spell ${quote(says)}`;
    return [{ level: 'warn', what: what + spelled, line: lineAt(at)?.line }];
  });
}

/** Tag characters are counted together, and so are variation selectors: only a sequence of them spells text. */
function characterKey(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code >= 0xe0000 && code <= 0xe007f) return 'tag characters';
  if ((code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef)) return 'variation selectors';
  return char;
}

function characterName(key: string): string {
  if ([...key].length > 1) return key;
  const [name] = Object.entries(NAMES).find(([, characters]) => characters.includes(key)) ?? [];
  return `${codePointText(key)} (${name ?? (/\p{Cc}/u.test(key) ? 'control' : 'invisible')})`;
}

function characters(text: string) {
  const seen = new Map<string, { offsets: number[]; says: string }>();
  for (const { char, at } of hiddenCharacters(text)) {
    // A byte order mark, or the CR of a CRLF.
    if ((char === '\ufeff' && at === 0) || (char === '\r' && text[at + 1] === '\n')) continue;
    const key = characterKey(char);
    const entry = seen.get(key) ?? { offsets: [], says: '' };
    entry.offsets.push(at);
    if (entry.says.length < MAX_SAID) entry.says += tagText(char);
    seen.set(key, entry);
  }
  return seen;
}

function* newComments(before: string, after: string, lineAt: LineAt): Generator<Fact> {
  const oldComments = new Set([...comments(before)].map(({ text }) => text));
  for (const { text, at } of comments(after)) {
    if (oldComments.has(text)) continue;
    const what = 'A comment, which models read and a preview does not show';
    yield { what, quoted: text, line: lineAt(at)?.line };
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
