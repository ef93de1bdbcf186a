import { CodedError } from 'skill-registry/kernel';
import { oneLine } from '../../../../lib/text/index.ts';
import { decodeText } from '../../history/skill-location.ts';

/** @returns without a byte order mark. @throws NOT_TEXT. */
export function plainText(bytes: Buffer, path: string): string {
  const text = decodeText(bytes, path);
  if (text.includes('\0'))
    throw new CodedError('NOT_TEXT', `${JSON.stringify(path.slice(0, 200))} has a NUL character, so it is no text.`);
  return text.replace(/^\ufeff/, '');
}

/**
 * The first sentence of at least 20 characters that is prose and has no Jinja in it, else the longest; and the sentence that says when
 * to use it, where there is one. Empty: there is none.
 */
export function descriptionIn(text: string): string {
  const sentences = proseOf(text.slice(0, MAX_READ)).flatMap((paragraph) => paragraph.split(/(?<=[.!?])\s+/));
  const usable = sentences.filter((one) => /\p{L}/u.test(one) && !/\{[{%#]/.test(one));
  const what = usable.find(({ length }) => length >= MIN) ?? [...usable].sort((a, b) => b.length - a.length)[0] ?? '';
  const when = usable.find((one) => /^(use (this|it|when|for)\b|when to use\b)/i.test(one) && one !== what);
  return [what, ...(when === undefined ? [] : [when])].map((one) => oneLine(one, MAX)).join(' ');
}

/** Where Jinja stands in a text, in order, at most 1,000 times: 1-based line, and the beginning of what stands there. */
export function jinjaIn(text: string): readonly { readonly line: number; readonly text: string }[] {
  const found: { line: number; text: string }[] = [];
  let [line, counted] = [1, 0];
  const ended = new Map(['}}', '%}', '#}'].map((end) => [end, text.lastIndexOf(end)]));
  for (let at = text.indexOf('{'); at !== -1 && found.length < 1_000; at = text.indexOf('{', at)) {
    const end = ENDS.get(text.slice(at, at + 2)) ?? '';
    if ((ended.get(end) ?? -1) < at + 2) {
      at += 1;
      continue;
    }
    const after = text.indexOf(end, at + 2) + 2;
    for (; counted < at; counted += 1) if (text[counted] === '\n') line += 1;
    found.push({ line, text: oneLine(text.slice(at, after), 80) });
    at = after;
  }
  return found;
}

// --- internal ---

const ENDS: ReadonlyMap<string, string> = new Map([
  ['{{', '}}'],
  ['{%', '%}'],
  ['{#', '#}'],
]);

/** Characters of a text in which its description is looked for. */
const MAX_READ = 20_000;
/** Characters of a sentence. Twice the longest is less than a description may have. */
const MIN = 20;
const MAX = 400;

/** Paragraphs without marks of emphasis; no headings, lists, tables, quotes, code, HTML and lines of Jinja. */
function proseOf(text: string): readonly string[] {
  const plain = text.replace(/^(?: {0,3})(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1[`~]*[ \t]*$|$(?![\s\S]))/gm, '\n\n');
  return plain
    .split(/\r?\n[ \t]*\r?\n/)
    .map((paragraph) =>
      paragraph
        .split(/\r?\n/)
        .filter((line) => !/^\s*(#{1,6}(\s|$)|[-*+|>]|\d+[.)]\s|<|\{[%#]|---)|^( {4}|\t)/.test(line))
        .join(' ')
        .replace(/[*`]+/g, '')
        .trim(),
    )
    .filter((paragraph) => paragraph !== '');
}
