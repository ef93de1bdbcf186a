import { foldLine } from '../../../../../lib/text/index.ts';
import { splitFrontmatter } from '../../../core/skill/frontmatter.ts';
import { countWhile, rawLines } from './lines.ts';
import type { Passage } from './rule.ts';

/**
 * Splits a text into passages for the rules: look-alike letters are folded, invisible characters removed, lines of a
 * paragraph and continued commands joined, quotes and variables that only split a command removed. Each passage repeats
 * the end of the one before, so that nothing on a border is missed. Outside fences, lines of `prose` flow. `undefined`
 * is a break. Linear time.
 */
export function* passagesOf(text: string, prose: boolean): Generator<Passage | undefined> {
  let lines: Line[] = [];
  let length = 0;
  let fence = '';
  const bodyOffset = prose ? splitFrontmatter(text).bodyOffset : 0;
  let headings: readonly string[] = [];
  const variables = new Map<string, string>();
  let unbroken = 0;
  for (const { raw, line, start } of rawLines(text)) {
    if (line % BREAK_LINES === 0) yield undefined;
    // Several empty lines count as one.
    if (lines.at(-1)?.words === '' && raw.trim() === '') continue;
    for (let from = 0; from === 0 || from < raw.length; from += MAX_LINE) {
      const part = raw.slice(from, from + MAX_LINE);
      unbroken += part.length;
      // Not by the length of the passage, because invisible characters do not add to it.
      if (unbroken > PASSAGE) {
        yield undefined;
        unbroken = 0;
      }
      const [, mark, info] = (prose && /```|~~~/.test(part) && FENCE.exec(part)) || [];
      // A fence with a language opens a block and never closes one.
      if (mark !== undefined && (fence === '' || (mark.startsWith(fence) && info === '')))
        fence = fence === '' ? mark : '';
      const isCode = !prose || fence !== '' || mark !== undefined;
      const words = isCode ? withValues(plainCode(part), variables) : plainProse(part);
      if (!isCode && part.startsWith('#')) headings = headingsWith(headings, part);
      const above = start < bodyOffset ? undefined : headings;
      lines.push({ words, line, isCode, opens: isCode || OPENS_BLOCK.test(part), headings: above });
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
  /** Whether a paragraph, an item or a row of a table begins here. */
  readonly opens: boolean;
  /** Those above and in the line, by level; `undefined` in frontmatter. */
  readonly headings: readonly string[] | undefined;
}

/** Characters. Short, so that searching one takes a few milliseconds, whatever is in it. */
const PASSAGE = 8000;
const OVERLAP = 1200;
const BREAK_LINES = 200;
const MAX_LINE = 4000;
const FENCE = /^[\s>]{0,40}(?:[-*+] |\d{1,9}[.)] )?\s{0,8}(`{3,}|~{3,})\s*(\S?)/;
const OPENS_BLOCK = /^\s*(?:[-*+#|]|\d{1,9}[.)]|>?\s*$)/;

function headingsWith(headings: readonly string[], line: string): readonly string[] {
  const [, marks = '', title = ''] = /^(#{1,6})\s(.{0,200})/.exec(line) ?? [];
  if (marks === '') return headings;
  const above = headings.slice(0, marks.length - 1);
  while (above.length < marks.length - 1) above.push('');
  return [...above, title.toLowerCase()];
}

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
  const placed: { readonly start: number; readonly line: Line }[] = [];
  const parts: string[] = [];
  let [length, breaks] = [0, 0];
  const add = (part: string): void => {
    parts.push(part);
    length += part.length;
    breaks = part === '\n' ? breaks + 1 : part === '' ? breaks : 0;
  };
  let isContinued = false;
  let wasCode = true;
  for (const line of lines) {
    const { words, isCode, opens } = line;
    const flows = isContinued || (!isCode && !wasCode && !opens);
    if (words === '') {
      if (breaks < 2) add('\n');
      isContinued = false;
      continue;
    }
    if (length > 0) add(flows ? ' ' : '\n');
    placed.push({ start: length, line });
    isContinued = isCode && /(?:\\|\||&&|`)$/.test(words) && !words.endsWith('``');
    // A line that has only the sign of continuation becomes an empty line.
    add(isContinued ? words.replace(/[\\`]$/, '') : words);
    wasCode = isCode;
  }
  const shown = parts.join('');
  const lineOf = (offset: number): Line | undefined =>
    placed[countWhile(placed, ({ start }) => start <= offset) - 1]?.line;
  return {
    text: lowerCase(shown),
    shown,
    lineAt: (offset) => lineOf(offset)?.line ?? 1,
    headingsAt: (offset) => lineOf(offset)?.headings?.join('\n'),
    isCodeAt: (offset) => lineOf(offset)?.isCode === true,
  };
}

/** Keeps the length, so that offsets stay right. */
function lowerCase(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

const MARKS = /^(?:[>#]+|[*+-]+(?=\s|$)|\d{1,9}[.)](?=\s)|\s)+/;

function plainProse(raw: string): string {
  const line = folded(raw);
  const words = /^[>#*+\d\s-]/.test(line) ? line.replace(MARKS, '') : line;
  return unsplit(/[*`_]/.test(words) ? words.replace(/[*`]+|__/g, '') : words);
}

/** A command that a program starts as a list of words. */
const LISTED =
  /(["'])(?:curl|wget|nc|scp|ssh|(?:ba|z)?sh|git|crontab|powershell|osascript|pip3?|npm|gh|aws|docker|kubectl|rm|dig|nslookup|zfs)\1, ?\1/;

function plainCode(raw: string): string {
  const written = folded(raw);
  const line = written.includes(',') && LISTED.test(written) ? written.replace(/(["']), ?\1/g, ' ') : written;
  return unsplit(/^[>\s$%P]/.test(line) ? line.replace(/^(?:[>\s]*)(?:\$|%|PS [^>]{0,80}>|PS>) /, '') : line);
}

/** Removes what a shell or a program removes: empty quotes, quotes inside a word, `${IFS}`, `+` between texts. */
function unsplit(line: string): string {
  if (!/['"$]/.test(line)) return line;
  const spaced = line.includes('$') ? line.replace(/\$\{?IFS\}?(?:\$\d)?/g, ' ') : line;
  const added = spaced.includes('+') ? spaced.replace(/(['"])\s{0,3}\+\s{0,3}\1/g, '') : spaced;
  // The quote comes first, because it is searched faster than what stands before it.
  return added.replace(
    /(['"])(?<=\w\1)(?:\1|(\w{1,20})\1(?=\w))/g,
    (_, _quote, inner: string | undefined) => inner ?? '',
  );
}

const ASSIGNS =
  /(?:^|[;&\s])(?:export\s|local\s|readonly\s)?([A-Za-z_]\w{0,30})=(?:"([^"$`\s]{2,300})"|'([^'\s]{2,300})'|([^\s"'$`;|&()]{2,300}))/g;
const MAX_VARIABLES = 100;

/** Replaces variables that an earlier command set to plain text. */
function withValues(line: string, variables: Map<string, string>): string {
  const commands = line.includes('=') && line.includes('$') ? line.split(/(?<=;|&&)/) : [line];
  const expanded = commands.map((command) => {
    const written =
      variables.size > 0 && command.includes('$')
        ? command.replace(/\$\{?([A-Za-z_]\w{0,30})\}?/g, (name, key: string) => variables.get(key) ?? name)
        : command;
    if (command.includes('=') && variables.size < MAX_VARIABLES) {
      for (const [, name = '', ...values] of written.matchAll(ASSIGNS))
        variables.set(name, values.find((value) => value !== undefined) ?? '');
    }
    return written;
  });
  return expanded.join('').slice(0, MAX_LINE);
}

/** Letters of other scripts, and in the same order the Latin letters they look like. */
const LOOK_ALIKES = 'аеорсухіјѕԁһӏԛԝАВЕКМНОРСТУХІЈЅοανρικΑΒΕΖΗΙΚΜΝΟΡΤΥΧ';
const LATIN = 'aeopcyxijsdhlqwABEKMHOPCTYXIJSoavpikABEZHIKMNOPTYX';

function folded(raw: string): string {
  const line = foldLine(raw);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all that is not ASCII.
  if (/^[\x00-\x7f]*$/.test(line)) return line;
  return line.normalize('NFKC').replace(/[\u0370-\u052f]/g, (char) => LATIN[LOOK_ALIKES.indexOf(char)] ?? char);
}
