import { foldLine } from '../../../lib/text/index.ts';
import type { Passage } from './rule.ts';
import { rawLines } from './scanned-line.ts';

/**
 * A text in passages, as rules read it: look-alike letters folded, invisible characters removed, lines of one paragraph and
 * continued commands joined, quotes and variables that only split a command removed. Each passage repeats the end of the one before,
 * so that what lies on a border is whole in one of them. Linear time.
 *
 * @param prose - Whether the file is prose: outside of fences its lines flow.
 */
export function* passagesOf(text: string, prose: boolean): Generator<Passage> {
  let lines: Line[] = [];
  let length = 0;
  let fence = '';
  for (const { raw, line } of rawLines(text)) {
    for (let from = 0; from === 0 || from < raw.length; from += MAX_LINE) {
      const part = raw.slice(from, from + MAX_LINE);
      const mark = prose ? /^[\s>]{0,40}(?:[-*+] |\d{1,9}[.)] )?\s{0,8}(`{3,}|~{3,})/.exec(part)?.[1] : undefined;
      if (mark !== undefined && (fence === '' || mark.startsWith(fence))) fence = fence === '' ? mark.slice(0, 3) : '';
      const isCode = !prose || fence !== '' || mark !== undefined;
      const words = isCode ? plainCode(part) : plainProse(part);
      lines.push({ words, line, isCode, opens: isCode || OPENS_BLOCK.test(part) });
      length += words.length + 1;
      if (length < PASSAGE) continue;
      yield passageOf(lines);
      lines = tailOf(lines);
      length = 0;
    }
  }
  if (lines.length > 0) yield passageOf(lines);
}

// --- internal ---

interface Line {
  readonly words: string;
  readonly line: number;
  readonly isCode: boolean;
  /** Whether it begins a paragraph, an item or a row of a table. */
  readonly opens: boolean;
}

/** Characters. Short, so that searching one takes a few milliseconds whatever is in it. */
const PASSAGE = 8000;
const OVERLAP = 1200;
const MAX_LINE = 4000;
const OPENS_BLOCK = /^\s*(?:[-*+#|]|\d{1,9}[.)]|>?\s*$)/;

function tailOf(lines: readonly Line[]): Line[] {
  let length = 0;
  let from = lines.length;
  while (from > 1 && length + (lines[from - 1]?.words.length ?? 0) <= OVERLAP) {
    from--;
    length += (lines[from]?.words.length ?? 0) + 1;
  }
  return lines.slice(from);
}

function passageOf(lines: readonly Line[]): Passage {
  const starts: number[] = [];
  const numbers: number[] = [];
  let shown = '';
  let isContinued = false;
  let wasCode = true;
  for (const { words, line, isCode, opens } of lines) {
    const flows = isContinued || (!isCode && !wasCode && !opens);
    if (words === '') {
      // Any number of empty lines is one.
      if (!shown.endsWith('\n\n')) shown += '\n';
      isContinued = false;
      continue;
    }
    if (shown !== '') shown += flows ? ' ' : '\n';
    starts.push(shown.length);
    numbers.push(line);
    isContinued = isCode && /(?:\\|\||&&|`)$/.test(words) && !words.endsWith('``');
    shown += isContinued ? words.replace(/[\\`]$/, '') : words;
    wasCode = isCode;
  }
  return {
    text: lowerCase(shown),
    shown,
    lineAt: (offset) => {
      let [low, high] = [0, starts.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((starts[middle] ?? 0) <= offset) low = middle + 1;
        else high = middle;
      }
      return numbers[low - 1] ?? 1;
    },
  };
}

/** In lower case with the same length. */
function lowerCase(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

const MARKS = /^(?:[>#*+-]|\d{1,9}[.)]|\s)+/;

function plainProse(raw: string): string {
  return unsplit(
    folded(raw)
      .replace(MARKS, '')
      .replace(/[*`]+|__/g, ''),
  );
}

function plainCode(raw: string): string {
  return unsplit(folded(raw).replace(/^(?:[>\s]*)(?:\$|%|PS [^>]{0,80}>|PS>) /, ''));
}

/** What a shell or a program takes out itself: empty quotes, quotes inside a word, `${IFS}`, texts that are added to each other. */
function unsplit(line: string): string {
  if (!/['"$]/.test(line)) return line;
  return line
    .replace(/\$\{?IFS\}?(?:\$\d)?/g, ' ')
    .replace(/(['"])\s{0,3}\+\s{0,3}\1/g, '')
    .replace(/(?<=\w)(?:''|""|(['"])(\w{1,20})\1(?=\w))/g, (_, _quote, inner: string | undefined) => inner ?? '');
}

/** Letters of other scripts that look like Latin ones, and in the same order the Latin ones. */
const LOOK_ALIKES = 'аеорсухіјѕԁһӏԛԝАВЕКМНОРСТУХІЈЅοανρικΑΒΕΖΗΙΚΜΝΟΡΤΥΧ';
const LATIN = 'aeopcyxijsdhlqwABEKMHOPCTYXIJSoavpikABEZHIKMNOPTYX';

function folded(raw: string): string {
  const line = foldLine(raw);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all that is not ASCII.
  if (/^[\x00-\x7f]*$/.test(line)) return line;
  return line.normalize('NFKC').replace(/[\u0370-\u052f]/g, (char) => LATIN[LOOK_ALIKES.indexOf(char)] ?? char);
}
