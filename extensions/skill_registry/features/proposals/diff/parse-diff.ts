import { LINE_ENDS, type LineEnd } from '../../../../../lib/diff/index.ts';
import { withFallback } from '../../../../../lib/errors/index.ts';

export interface HunkLine {
  readonly kind: ' ' | '-' | '+';
  /** Without sign and line end. */
  readonly text: string;
  /** An unchanged line with its leading blank, which may belong to the text instead of being the sign. */
  readonly unsigned?: string;
  /** `\ No newline at end of file` follows. */
  readonly noNewline?: boolean;
  /** `\ Line ends with CRLF` follows. */
  readonly end?: LineEnd;
}

export interface Hunk {
  readonly lines: readonly HunkLine[];
  /** 1-based, from its `@@` line. Only for notes, because it is often wrong. */
  readonly oldStart?: number | undefined;
  /** Its `@@` line has wrong counts. */
  readonly miscounted?: boolean;
  /** Text of its `@@` line after the numbers. */
  readonly heading?: string | undefined;
  /** `*** End of File` follows: the hunk belongs at the end of the file. */
  readonly atEnd?: boolean;
  /** Number of lines without a sign at its end, from an empty one on: they may be prose after the diff. */
  readonly looseTail: number;
}

export type ParsedDiff = Readonly<Pick<ParsedRows, 'hunks' | 'creates' | 'addedEnd' | 'bom'>>;

/**
 * When all counts in the `@@` lines are right, they decide which row belongs to which hunk, as the format says.
 * Otherwise the signs of the rows decide.
 *
 * Also accepted: Markdown fences and prose around the diff, `*** Begin Patch`, hunks without numbers or header,
 * unchanged lines without their leading blank. Extra headers say what the format cannot: `byte order mark
 * added|removed`, `added lines end with LF|CRLF|CR`, and `\ Line ends with ...` after a line.
 *
 * @returns a reason, for a model, when the diff cannot be parsed or is not for this file.
 */
export function parseDiff(diff: string, path: string, skillId?: string): ParsedDiff | { readonly reason: string } {
  // LF and CRLF end a line; CR does when there is no LF.
  const text = diff.replace(/^\ufeff/, '');
  const rows = text.includes('\n') ? text.split(/\r?\n|\r$/) : text.split('\r');
  if (rows.at(-1) === '') rows.pop();
  if (rows.every((row) => row.trim() === '')) return { reason: `The diff is empty. ${EXPECTED}` };
  const parsed = parseRows(rows, true) ?? (parseRows(rows, false) as ParsedRows);
  const hunks = parsed.hunks.filter(({ lines }) => lines.some(({ kind }) => kind !== ' '));
  const saysNothing = parsed.bom === undefined && hunks.length === 0;
  const reason = whyRefused(parsed, path, skillId) ?? (saysNothing ? whyNoDiff(rows, parsed) : undefined);
  if (reason !== undefined) return { reason };
  const creates = parsed.creates || parsed.oldNames.some((name) => readName(name).includes(NO_FILE));
  return { hunks, creates, addedEnd: parsed.addedEnd, bom: parsed.bom };
}

export const SHOWN = 80;

/** At most 80 characters, in quotes. Invisible characters other than the blank become escapes. */
export function quoteLine(text: string, from = 0): string {
  const escaped = JSON.stringify(text.slice(from, from + SHOWN)).replace(/[\p{C}\p{Z}]/gu, (char) =>
    char === ' ' ? char : `\\u{${(char.codePointAt(0) as number).toString(16)}}`,
  );
  return `${from > 0 ? '…' : ''}${escaped}${from + SHOWN < text.length ? '…' : ''}`;
}

// --- internal ---

const EXPECTED =
  'Write a unified diff: a line "@@", then unchanged lines with a blank before them, removed lines with "-" and added lines with "+".';
const NO_FILE = '/dev/null';
/** Words that models write instead of a file name. */
const PLACEHOLDER =
  /^(?:[ab]\/)?(?:a|b|original|modified|old|new|before|after|current|proposed|updated|previous|file)(?:[ _-]?file)?$/i;
const PREFIX = /^(?:[abciow]|old|new)\//;

interface ParsedRows {
  readonly hunks: Hunk[];
  readonly oldNames: string[];
  readonly newNames: string[];
  readonly refusals: string[];
  creates: boolean;
  addedEnd?: LineEnd | undefined;
  bom?: 'added' | 'removed' | undefined;
  /** Looks like a change, but is outside of all hunks. */
  stray?: string;
}

function whyRefused(
  { hunks, oldNames, newNames, refusals, stray }: ParsedRows,
  path: string,
  skillId?: string,
): string | undefined {
  const [refusal] = refusals;
  if (refusal !== undefined) return refusal;
  if (stray !== undefined && hunks.length > 0) {
    return `The line ${quoteLine(stray)} looks like a change, but is outside of every hunk. Put each change below a "@@" line.`;
  }
  if (newNames.some((name) => readName(name).includes(NO_FILE))) {
    return `The diff deletes the file. A diff can change the text of ${path}, not delete it.`;
  }
  const otherNames = new Set<string>();
  let isNamed = false;
  for (const name of new Set([...oldNames, ...newNames])) {
    const readings = readName(name);
    const isOwn = readings.some(
      (one) => one === path || (skillId !== undefined && `/${one}`.endsWith(`/${skillId}/${path}`)),
    );
    if (isOwn) isNamed = true;
    else if (!readings.includes(NO_FILE) && !readings.some((one) => PLACEHOLDER.test(one))) {
      otherNames.add((readings.at(-1) ?? name).replace(PREFIX, ''));
    }
  }
  if (otherNames.size === 0) return undefined;
  const names = [...otherNames].slice(0, 5).map((name) => quoteLine(name));
  if (isNamed || otherNames.size > 1) {
    return `The diff is for more than one file (${[...(isNamed ? [path] : []), ...names].join(', ')}) or renames one: propose one file at a time, here only ${path}.`;
  }
  return `The diff is for ${names[0]}, but the proposal is for ${path}. Paths are relative to the skill: write "--- a/${path}" and "+++ b/${path}", or name the file you mean in the path argument.`;
}

function whyNoDiff(rows: readonly string[], { hunks }: ParsedRows): string {
  if (hunks.length > 0) {
    return 'The diff changes nothing: none of its lines begins with "-" or "+". Put "-" before each removed line and "+" before each added one.';
  }
  const has = (pattern: RegExp): boolean => rows.some((row) => pattern.test(row));
  const instead = (what: string): string => `This is ${what}, not a unified diff. ${EXPECTED}`;
  if (has(/^<{5,9} ?(?:SEARCH|ORIGINAL|HEAD|current)/i) && has(/^={5,9}$/))
    return instead('a block to search and replace');
  if (has(/^\*{15}$/)) return instead('a context diff');
  if (has(/^\d+(?:,\d+)?[acd]\d+(?:,\d+)?$/) && has(/^[<>] /)) return instead('a diff in the format of plain "diff"');
  const first = rows.find((row) => row.trim() !== '') ?? '';
  if (has(/^(?:diff --git |--- |\+\+\+ |@@|\*\*\* (?:Begin Patch|Update File))/)) {
    return `The diff has headers, but no line that is removed or added. ${EXPECTED}`;
  }
  return `This is not a diff; it begins with ${quoteLine(first)}. ${EXPECTED} To propose a whole new text, give it as content.`;
}

/** Characters; a longer name is cut before the patterns are tried. */
const MAX_NAME = 1024;

/** All readings, the shortest last: with and without prefix `a/`, time stamp or remark in parentheses. */
function readName(written: string): readonly string[] {
  const name = written.slice(0, MAX_NAME);
  const plain = (name.split('\t', 1)[0] as string).trim();
  const unquoted = /^`([^`]+)`$/.exec(plain)?.[1] ?? plain;
  const bare = /^".*"$/.test(unquoted)
    ? withFallback(() => String(JSON.parse(unquoted)), unquoted.slice(1, -1))
    : unquoted;
  const undated = bare.replace(/ \d{4}-\d\d-\d\d[\d:. +-]*$/, '').trimEnd();
  return [name, plain, bare, undated, undated.replace(/ \([^()]*\)$/, '').trimEnd()].flatMap((one) => {
    const here = one.replace(/^\.\//, '');
    return [one, here.replace(PREFIX, '').replace(/^\.\//, ''), here];
  });
}

/** @param exact - Counts in the `@@` lines decide; undefined when one is missing or wrong. Else the signs decide. */
function parseRows(rows: readonly string[], exact: boolean): ParsedRows | undefined {
  const parsed: ParsedRows = { hunks: [], oldNames: [], newNames: [], refusals: [], creates: false };
  const fence: Fence = {};
  const isContent = exact ? [] : contentAfter(rows);
  let heading: string | undefined;
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] as string;
    const isHeader = row.startsWith('@@');
    if (row.startsWith('@@@')) parsed.refusals.push(MERGE);
    if (exact && !isHeader) {
      const isStray = parsed.hunks.length > 0 && looksLikeChange(row, fence) && !startsHeader(rows, at);
      if (isStray || PATCH_ROW.test(row)) return undefined;
    }
    if (!isHeader && (exact || !isHunkWithoutHeader(rows, at, fence))) {
      at += readHeaderRows(rows, at, parsed, fence);
      if (exact && isHunkWithoutHeader(rows, at)) return undefined;
      continue;
    }
    const header = isHeader ? readHunkHeader(row) : {};
    const end = exact ? endByCounts(rows, at + 1, header.counts) : endBySigns(rows, at + 1, fence, isContent);
    if (end === undefined) return undefined;
    const body = readHunkBody(rows.slice(isHeader ? at + 1 : at, end), exact);
    heading = header.heading ?? heading;
    if (exact || body.lines.length > 0) {
      const { oldStart, counts } = header;
      const [old, added] = ['+', '-'].map((other) => body.lines.filter(({ kind }) => kind !== other).length);
      const miscounted = !exact && counts !== undefined && (old !== counts.old || added !== counts.new);
      parsed.hunks.push({ ...body, oldStart, heading, miscounted, atEnd: rows[end] === '*** End of File' });
      heading = undefined;
    }
    at = end;
  }
  if (parsed.hunks.length > 0) return parsed;
  if (exact) return parsed.bom && parsed;
  // No header at all: only rows with signs, some of them changes.
  const isBody = rows.some((row) => /^[+-]/.test(row)) && rows.every((row) => row === '' || /^[ +\\-]/.test(row));
  if (parsed.newNames.length > 0 || !isBody) return parsed;
  return { hunks: [readHunkBody(rows, false)], oldNames: [], newNames: [], refusals: [], creates: false };
}

interface Fence {
  mark?: string | undefined;
  isDiff?: boolean;
  /** Prose follows. */
  closed?: boolean;
}

interface HunkHeader extends Pick<Hunk, 'oldStart' | 'heading'> {
  /** Only in the standard format. */
  readonly counts?: { readonly old: number; readonly new: number } | undefined;
}

const STANDARD = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;
const PATCH_ROW = /^\*\*\* (?:(?:Begin Patch|End Patch|End of File)\s*$|(?:(?:Update|Add|Delete) File|Move to): )/;
const DIFF_LANGUAGE = /^(?:diff|patch|udiff)$/i;
/** Not an item of a list, a line of dashes or a header. */
const CHANGE_ROW = /^(?:\+(?!\+\+ )|-(?! \S|-- |-{1,2} ?$))/;
const MERGE = 'The diff is one of a merge ("@@@"): compare with one text only.';
const RENAME = 'The diff renames or copies the file: a proposal can only change the text of one file.';
const BINARY = 'The diff is binary: only text can be proposed.';

/** @returns the number of rows, at least 1. */
function readHeaderRows(rows: readonly string[], at: number, parsed: ParsedRows, fence: Fence): number {
  const row = rows[at] as string;
  const next = rows[at + 1] ?? '';
  if (startsHeader(rows, at)) {
    parsed.oldNames.push(row.slice(4));
    parsed.newNames.push(next.slice(4));
    return 2;
  }
  const [, action, name = ''] = (PATCH_ROW.test(row) && /^\*\*\* (\w+) (?:File|to): ?(.*)$/.exec(row)) || [];
  if (row.startsWith('--- ') && next.startsWith('@@')) parsed.oldNames.push(row.slice(4));
  else if (row.startsWith('+++ ') && next.startsWith('@@')) parsed.newNames.push(row.slice(4));
  else if (row.startsWith('diff --git ')) readGitRow(rows, at, parsed);
  else if (action === 'Delete') parsed.newNames.push(NO_FILE);
  else if (action === 'Move' || /^(?:rename|copy) (?:from|to) /.test(row)) parsed.refusals.push(RENAME);
  else if (/^(?:GIT binary patch$|Binary files .* differ$)/.test(row)) parsed.refusals.push(BINARY);
  else if (action !== undefined) {
    parsed.creates ||= action === 'Add';
    parsed.newNames.push(name.trim());
  } else if (CHANGE_ROW.test(row) && !fence.closed) parsed.stray ??= row;
  else if (parsed.hunks.length === 0) {
    const [, bom] = /^byte order mark (added|removed)$/.exec(row) ?? [];
    if (bom === 'added' || bom === 'removed') parsed.bom = bom;
    const end = LINE_ENDS[/^added lines end with (LF|CRLF|CR)$/.exec(row)?.[1] ?? ''];
    if (end) parsed.addedEnd = end;
  }
  const { mark, language = '' } = fenceOf(row);
  if (mark !== undefined && fence.mark === undefined) {
    Object.assign(fence, { mark, isDiff: DIFF_LANGUAGE.test(language) });
  } else if (mark !== undefined && language === '' && mark.startsWith(fence.mark as string)) {
    Object.assign(fence, { mark: undefined, isDiff: false, closed: true });
  }
  return 1;
}

/** `diff --git a/x b/x` names the file only when no `---` and `+++` follow. */
function readGitRow(rows: readonly string[], at: number, parsed: ParsedRows): void {
  for (let next = at + 1; next < rows.length && !(rows[next] as string).startsWith('diff --git '); next++) {
    if (startsHeader(rows, next)) return;
    if ((rows[next] as string).startsWith('@@')) break;
  }
  const [, name] = / "?b\/(.+?)"?$/.exec((rows[at] as string).slice(0, 10_000)) ?? [];
  if (name !== undefined) parsed.newNames.push(name);
}

/** Also `@@`, `@@ ... @@ heading`, `@@ heading`, and numbers with blanks in between. */
function readHunkHeader(row: string): HunkHeader {
  const close = row.indexOf('@@', 2);
  const inner = close === -1 ? row.slice(2) : row.slice(2, close);
  const after = close === -1 ? '' : row.slice(close + 2).trim();
  const numbers = /(?:^|\s)-\s?(\d{1,9})/.exec(inner.slice(0, 100));
  const heading = after || (numbers ? '' : inner.trim().replace(/^\.+$|^…$/, ''));
  const [standard, , old = '1', , added = '1'] = STANDARD.exec(row) ?? [];
  return {
    oldStart: numbers ? Number(numbers[1]) : undefined,
    heading: heading || undefined,
    counts: standard === undefined ? undefined : { old: Number(old), new: Number(added) },
  };
}

/** `---` or `+++` alone is an unchanged line: it is far more often a fence of frontmatter than a change of `--`. */
function readHunkBody(rows: readonly string[], exact: boolean): Pick<Hunk, 'lines' | 'looseTail'> {
  const lines: HunkLine[] = [];
  let unsignedFrom = 0;
  let signedUntil = 0;
  for (const row of rows) {
    const sign = row[0];
    const last = lines.at(-1);
    if (sign === '\\') {
      const end = LINE_ENDS[/^\\ Line ends with (LF|CRLF|CR)$/.exec(row)?.[1] ?? ''];
      const isRemark = end !== undefined || /^\\ ?(?:no newline|no new line)/i.test(row);
      if (last && isRemark) lines[lines.length - 1] = { ...last, ...(end ? { end } : { noNewline: true }) };
      if (isRemark || (last && row.startsWith('\\ '))) continue;
    }
    if (row === '') {
      if (unsignedFrom <= signedUntil) unsignedFrom = lines.length + 1;
      lines.push({ kind: ' ', text: '' });
      continue;
    }
    const isSigned = sign === ' ' || ((sign === '+' || sign === '-') && (exact || !/^(?:---|\+\+\+)$/.test(row)));
    if (!isSigned) lines.push({ kind: ' ', text: row });
    else if (sign === ' ') lines.push({ kind: sign, text: row.slice(1), unsigned: row });
    else lines.push({ kind: sign, text: row.slice(1) });
    if (isSigned) signedUntil = lines.length;
  }
  if (exact) return { lines, looseTail: 0 };
  while (lines.length > signedUntil && lines.at(-1)?.text === '') lines.pop();
  const isUnsignedTail = unsignedFrom > signedUntil && unsignedFrom <= lines.length;
  return { lines, looseTail: isUnsignedTail ? lines.length - unsignedFrom + 1 : 0 };
}

function fenceOf(row: string): { readonly mark?: string; readonly language?: string } {
  const [, mark, language = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(row.slice(0, 100)) ?? [];
  return mark !== undefined && /^[\w-]*$/.test(language.trim()) ? { mark, language: language.trim() } : {};
}

function startsHeader(rows: readonly string[], at: number): boolean {
  return (rows[at] ?? '').startsWith('--- ') && (rows[at + 1] ?? '').startsWith('+++ ');
}

/** It begins after the names of the file, or after the line that opens a fence of a diff. */
function isHunkWithoutHeader(rows: readonly string[], at: number, fence: Fence = {}): boolean {
  const before = rows[at - 1] ?? '';
  const isBelowNames = startsHeader(rows, at - 2) || /^\*\*\* (?:Update|Add) File: /.test(before);
  const isBegun = isBelowNames || (fence.isDiff === true && fenceOf(before).mark !== undefined);
  return isBegun && /^[ +-]/.test(rows[at] ?? '') && !startsHeader(rows, at);
}

/** After a closed fence `- ` begins an item of a list; `--` begins a mail signature. */
function looksLikeChange(row: string, fence: Fence): boolean {
  return fence.closed ? CHANGE_ROW.test(row) : /^[ +-]/.test(row) && !/^-- ?$/.test(row);
}

function endByCounts(rows: readonly string[], from: number, counts: HunkHeader['counts']): number | undefined {
  if (!counts) return undefined;
  let { old, new: added } = counts;
  let at = from;
  while (old > 0 || added > 0) {
    // Counts that need more rows than there are: they are wrong, or the diff was cut.
    const row = rows[at++];
    if (row === undefined || !/^(?:$|[ +\\-])/.test(row)) return undefined;
    if (row.startsWith('\\')) continue;
    if (!row.startsWith('+')) old--;
    if (!row.startsWith('-')) added--;
  }
  while (rows[at]?.startsWith('\\')) at++;
  return old < 0 || added < 0 ? undefined : at;
}

function endBySigns(rows: readonly string[], from: number, fence: Fence, isContent: readonly boolean[]): number {
  for (let at = from; at < rows.length; at++) {
    const row = rows[at] as string;
    if (row.startsWith('@@') || row.startsWith('diff --git ') || PATCH_ROW.test(row)) return at;
    if (startsHeader(rows, at) && (rows[at + 2] ?? '@@').startsWith('@@')) return at;
    if (fence.mark === undefined || isContent[at]) continue;
    const { mark, language } = fenceOf(row);
    if (language === '' && mark?.startsWith(fence.mark) && row.startsWith(mark)) return at;
  }
  return rows.length;
}

/** A row of a fence is a line of the file when changes, or an odd number of fences, follow before the next diff. */
function contentAfter(rows: readonly string[]): readonly boolean[] {
  const isContent: boolean[] = [];
  let changes = false;
  let fences = 0;
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at] as string;
    isContent[at] = changes || fences % 2 === 1;
    const { language } = fenceOf(row);
    if (language !== undefined && DIFF_LANGUAGE.test(language)) [changes, fences] = [false, 0];
    else if (language !== undefined) fences++;
    else if (CHANGE_ROW.test(row) || row.startsWith('@@')) changes = true;
  }
  return isContent;
}
