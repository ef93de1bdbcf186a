import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { renderInline, renderTable } from '../../lib/terminal/index.ts';
import { inColour, printable } from '../../lib/text/index.ts';

export interface AnswerWriterOptions {
  write(text: string): void;
  /** Columns of the window now. */
  columns(): number;
  readonly isColoured: boolean;
}

/** One answer of a model, in markdown, shown on a terminal while it arrives. */
export interface AnswerWriter {
  add(text: string): void;
  /** Shows what is left, and ends the line. What is added then begins anew. */
  end(): void;
}

/** Characters in which marks are looked for at once. What is longer is shown with its marks. */
const MAX_MARKED = 1_000;
/** Characters of a table. A longer one is shown as it is. */
const MAX_TABLE = 20_000;

/**
 * Shows each word as soon as the marks around it are closed, headings and lines of code as soon as they are complete, and a table at
 * its end. Each character is taken from the text once, so none is lost and none is shown twice. Marks are looked for in one line:
 * the line ends of the model are kept. Words are wrapped; addresses and code are not.
 */
export function createAnswerWriter(options: AnswerWriterOptions): AnswerWriter {
  const screen = createScreen(options);
  let line = '';
  /** What the line is, as soon as that is known. */
  let kind: Kind | undefined;
  /** What ends the code, while there is code. */
  let fence: string | undefined;
  let table = '';
  let wasBlank = true;

  const showTable = (): void => {
    if (table !== '') screen.table(table);
    table = '';
  };
  const showCode = (isEnd: boolean): void => {
    if (!isEnd && line.length <= MAX_MARKED) return;
    screen.code(line);
    line = '';
  };
  const showWords = (of: Kind, isEnd: boolean): void => {
    for (;;) {
      const settled = isEnd && line.length <= MAX_MARKED ? line.length : settledAt(line);
      // Looking for the marks of a long part takes as long as its square.
      const isLong = settled === 0 && line.length > MAX_MARKED;
      const at = isLong ? endOfWord(line) : settled;
      if (at === 0) return;
      const part = line.slice(0, at);
      screen.words(isLong ? printable(part) : renderInline(part), of);
      line = line.slice(at);
    }
  };
  /** Shows what can be shown of a line that is complete or not. */
  const show = (isEnd: boolean): void => {
    const isStart = kind === undefined;
    if (fence !== undefined) {
      if (isEnd && endsCode(line, fence)) [line, fence] = ['', undefined];
      else showCode(isEnd);
    } else if (isStart && FENCE.test(line)) {
      if (isEnd) [line, fence] = ['', FENCE.exec(line)?.[1]];
    } else if (isStart && /^ *\|/.test(line) && table.length <= MAX_TABLE) {
      if (isEnd) [table, line] = [`${table}${line.trim()}\n`, ''];
    } else {
      if (line !== '') showTable();
      if (isStart && (isEnd ? line.trim() !== '' : KNOWN.test(line))) {
        kind = kindOf(line);
        screen.begin(kind);
        line = line.slice(kind.taken);
      }
      if (kind) showWords(kind, isEnd);
    }
  };
  const complete = (): void => {
    const wasCode = fence !== undefined;
    const isBlank = !wasCode && kind === undefined && line.trim() === '';
    if (isBlank) showTable();
    show(true);
    const isShown = wasCode ? fence !== undefined : kind !== undefined;
    if (isShown || (isBlank && !wasBlank)) screen.endLine();
    // Blank lines at the beginning, and after another one, are left out.
    if (isShown || isBlank || table !== '') wasBlank = isBlank;
    [line, kind] = ['', undefined];
  };

  return {
    add(text) {
      const [first = '', ...others] = text.split('\n');
      line += first;
      for (const next of others) {
        line = line.replace(/\r$/, '');
        complete();
        line = next;
      }
      if (line !== '') show(false);
    },
    end() {
      if (line !== '' || kind) complete();
      showTable();
      [fence, wasBlank] = [undefined, true];
    },
  };
}

// --- internal ---

/** How a line of text is shown. */
interface Kind {
  /** What is written before its words. */
  begin(columns: number): string;
  /** What each further line of the terminal begins with. */
  readonly hang: string;
  /** Characters of the markdown that `begin` stands for. */
  readonly taken: number;
  readonly colour?: 'title' | 'heading';
}

/** Writes to the terminal, and knows the column. */
function createScreen({ write, columns, isColoured }: AnswerWriterOptions) {
  let column = 0;
  /** Blanks after the last word, which are written with the next one. */
  let gap = '';
  const out = (text: string): void => write(isColoured ? text : stripVTControlCharacters(text));
  const indent = (text: string): void => {
    out(text);
    [column, gap] = [stringWidth(text), ''];
  };
  return {
    endLine: () => indent('\n'),
    begin: ({ begin }: Kind) => indent(begin(columns())),
    words(text: string, { hang, colour }: Kind): void {
      for (const [piece] of (colour ? inColour(colour, text) : text).matchAll(PIECE)) {
        if (piece.trim() === '') {
          gap = piece;
          continue;
        }
        const width = stringWidth(piece);
        if (column + gap.length + width > columns() && column > stringWidth(hang)) {
          out('\n');
          indent(hang);
        }
        out(gap + piece);
        column += gap.length + width;
        gap = '';
      }
    },
    /** A part of one line of code. */
    code(text: string): void {
      if (text !== '') out(`${column === 0 ? '    ' : ''}${inColour('code', printable(text))}`);
      column = 4;
    },
    table(text: string): void {
      out(`${isTable(text) ? renderTable(text, columns()) : printable(text.trimEnd())}\n`);
    },
  };
}

/** Whether all of it is one table that does not take long to read. Cells beyond those of the first row would not be shown. */
function isTable(text: string): boolean {
  const rows = text.trimEnd().split('\n');
  const cells = rows.map((row) => row.replace(/^\||(?<!\\)\|$/g, '').split(/(?<!\\)\|/).length);
  const isShort = text.length <= MAX_TABLE && rows.every((row) => row.length <= MAX_MARKED);
  return (
    isShort &&
    DELIMITERS.test(rows[1] ?? '') &&
    cells[0] === cells[1] &&
    cells.every((count) => count <= (cells[0] ?? 0))
  );
}

const DELIMITERS = /^\|(?: *:?-+:? *\|)*(?: *:?-+:? *)?$/;

const endsCode = (line: string, fence: string): boolean =>
  line.trim().startsWith(fence) && /^\s*([`~])\1*\s*$/.test(line);

const FENCE = /^\s*(`{3,}|~{3,})[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+/;
const RULE = /^ {0,3}([-*_])\1{2,}\s*$/;
const ITEM = /^(\s*)(?:[-*+]|(\d{1,9}[.)]))\s+/;
/** Enough of a line to tell what it is. */
const KNOWN = /^(?:\s*>)*\s*(?:[^\s>]\S*\s|[^\s\d>#|`~*+_-])/;
const QUOTE = /^ {0,3}> ?/;

function kindOf(line: string): Kind {
  const [quote = ''] = QUOTE.exec(line) ?? [];
  if (quote !== '') {
    const { begin, hang, taken } = kindOf(line.slice(quote.length));
    const bar = inColour('quiet', '│ ');
    return { begin: (columns) => bar + begin(columns - 2), hang: bar + hang, taken: quote.length + taken };
  }
  const [hashes = '', depth = ''] = HEADING.exec(line) ?? [];
  if (depth !== '')
    return { begin: () => '', hang: '', taken: hashes.length, colour: depth === '#' ? 'title' : 'heading' };
  if (RULE.test(line))
    return { begin: (columns) => inColour('quiet', '─'.repeat(columns)), hang: '', taken: line.length };
  const [item = '', indent = '', number = '•'] = ITEM.exec(line) ?? [];
  if (item !== '') {
    const mark = `${indent}${number} `;
    return { begin: () => mark, hang: ' '.repeat(mark.length), taken: item.length };
  }
  const [blanks = ''] = /^ */.exec(line) ?? [];
  return { begin: () => blanks, hang: blanks, taken: blanks.length };
}

const WIDE = '[\\u3000-\\u30ff\\u3400-\\u9fff\\uff00-\\uffef]';
/** Blanks, a character of a writing without blanks, or a word. */
const PIECE = new RegExp(`\\s+|${WIDE}|(?:(?!${WIDE})\\S)+`, 'g');
const BREAK_AFTER = new RegExp(`\\s|${WIDE}`);
const MARKS = /\\.|`+|[*~]+|_+|\]\(|[[\])]|\s|[^\s]/gu;

/**
 * How much of a line can be shown, whatever follows: up to the last place between words, among the first 1,000 characters, at which
 * no mark is open. 0: nothing yet.
 */
function settledAt(line: string): number {
  let [settled, code, address] = [0, 0, false];
  const open: Record<string, number> = { '*': 0, _: 0, '~': 0, '[': 0 };
  const text = line.slice(0, MAX_MARKED);
  for (const { 0: mark, index } of text.matchAll(MARKS)) {
    const [kind = '', end] = [mark.charAt(0), index + mark.length];
    const [before, after] = [text.charAt(index - 1), text.charAt(end)];
    if (kind === '`') code = code === 0 ? mark.length : code === mark.length ? 0 : code;
    else if (code > 0) continue;
    else if (kind === '*' || kind === '_' || kind === '~') {
      const isInWord = kind === '_' && /\w/.test(before) && /\w/.test(after);
      if (open[kind] && /\S/.test(before)) open[kind] = Math.max(0, (open[kind] ?? 0) - mark.length);
      else if (/\S/.test(after) && !isInWord) open[kind] = mark.length;
    } else if (kind === '[') open['['] = 1;
    else if (kind === ']') [open['['], address] = [0, mark === ']('];
    else if (kind === ')') address = false;
    else if (BREAK_AFTER.test(mark) && !address && Object.values(open).every((marks) => marks === 0)) settled = end;
  }
  return settled;
}

/** The end of the last word among the first 1,000 characters, or of those characters. */
function endOfWord(line: string): number {
  const text = line.slice(0, MAX_MARKED);
  return text.search(/\s\S*$/) + 1 || MAX_MARKED - (/[\ud800-\udbff]$/.test(text) ? 1 : 0);
}
