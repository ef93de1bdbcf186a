import { escapeHidden, notation, readEscaped, showEnd } from '../../../lib/text/index.ts';

/** A diff as the lines of a fenced block: everything that would not be seen is shown. */
export function diffLines(diff: string): readonly string[] {
  return diff
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => (line === EMPTY_CONTEXT ? line : showEnd(escapeHidden(line))));
}

/**
 * Reads the lines of a fenced block that a person may have edited.
 *
 * @param known - What `diffLines` was given; it is given back where nothing but line ends and blanks at line ends differ.
 */
export function readDiffLines(lines: readonly string[], known: string): string {
  const written = diffLines(known);
  if (sameText(lines, written)) return known;
  // An editor that strips blanks leaves nothing of an empty line of context.
  const stripped = written.includes(EMPTY_CONTEXT) && !lines.includes(EMPTY_CONTEXT);
  const kept = stripped && written.at(-1) === EMPTY_CONTEXT ? lines : trimEmptyEnd(lines);
  const from = stripped ? kept.findIndex((line) => line.startsWith('@@')) : kept.length;
  const read = kept.map((line, at) => (at > from && line === '' ? EMPTY_CONTEXT : readEscaped(line)));
  return read.length === 0 ? '' : `${read.join('\n')}\n`;
}

/** Somebody's words as a blockquote: nothing in them begins a line, nothing in them is markup that a preview obeys. */
export function quoteLines(text: string): readonly string[] {
  return text
    .replace(/\r\n/g, '\n')
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${showEnd(escapeHidden(line).replace(MARKUP, notation))}`));
}

/**
 * Reads the lines of a section that a person may have edited, with or without the marks of a quotation.
 *
 * @param known - What `quoteLines` was given; it is given back where nothing but line ends, blanks at line ends and marks of
 *   empty lines differ.
 */
export function readQuoteLines(lines: readonly string[], known: string): string {
  const texts = trimUnquoted(lines).map(unquote);
  if (sameText(trimBlankStart(texts), trimBlankStart(quoteLines(known).map(unquote)))) return known;
  return texts.map((line) => readEscaped(line.trimEnd())).join('\n');
}

/** HTML and images: markup must not pass for a section of ours, and a preview must not fetch anything. */
export const MARKUP: RegExp = /<(?=[A-Za-z/!?])|!(?=\[)/g;

// --- internal ---

const EMPTY_CONTEXT = ' ';

function unquote(line: string): string {
  return line.replace(/^ {0,3}> ?/, '');
}

function isBlank(line: string): boolean {
  return line.trim() === '';
}

/** Equal but for blanks at the ends of lines and of the text. */
function sameText(left: readonly string[], right: readonly string[]): boolean {
  const [a, b] = [trimBlankEnd(left), trimBlankEnd(right)];
  return a.length === b.length && a.every((line, at) => line.trimEnd() === b[at]?.trimEnd());
}

function trimBlankStart(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => !isBlank(line));
  return first === -1 ? [] : lines.slice(first);
}

function trimEmptyEnd(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}

function trimBlankEnd(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => !isBlank(line)) + 1);
}

/** Without the empty lines that part a section from its headings. */
function trimUnquoted(lines: readonly string[]): readonly string[] {
  return trimBlankEnd(trimBlankStart(lines));
}
