import { LINE_ENDS, type LineEnd } from './lines.ts';

export interface HunkLine {
  /** Unchanged, removed or added. */
  readonly kind: ' ' | '-' | '+';
  /** Without sign and line end. */
  readonly text: string;
  /** Of an unchanged line: the line with the leading blank, should that be part of it and no sign. */
  readonly unsigned?: string;
  /** `\ No newline at end of file` follows. */
  readonly noNewline?: boolean;
  /** `\ Line ends with CRLF` follows. */
  readonly end?: LineEnd;
}

export interface Hunk {
  readonly lines: readonly HunkLine[];
  /** 1-based, as its `@@` line claims. Told in notes, never relied upon. */
  readonly oldStart?: number;
  /** Its `@@` line gives other numbers of lines than it has. */
  readonly miscounted?: boolean;
  /** What its `@@` line says beside the numbers. */
  readonly heading?: string;
  /** `*** End of File` follows: it belongs at the end of the file. */
  readonly atEnd?: boolean;
  /** So many lines at its end bear no sign, from a blank one on: they may be words that follow the diff. */
  readonly looseTail: number;
}

/** What the rows of a diff say, before it is asked whether that makes sense. */
export interface Draft {
  readonly hunks: Hunk[];
  readonly oldNames: string[];
  readonly newNames: string[];
  /** What is not done here, in words a model can act on. */
  readonly refusals: string[];
  /** By a header other than `--- /dev/null`. */
  creates: boolean;
  addedEnd?: LineEnd;
  bom?: 'added' | 'removed';
  /** A row outside of all hunks that looks like a change. */
  stray?: string;
}

/**
 * Reads the rows of a diff by the counts in its `@@` lines or, whatever these say, by the signs of the rows.
 *
 * @returns Undefined where a count that is to be relied upon is missing or wrong.
 */
export function readHunks(rows: readonly string[], by: 'counts' | 'signs'): Draft | undefined {
  const exact = by === 'counts';
  const draft: Draft = { hunks: [], oldNames: [], newNames: [], refusals: [], creates: false };
  const fence: Fence = {};
  const isContent = exact ? [] : contentAfter(rows);
  let heading: string | undefined;
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] as string;
    const isHeader = row.startsWith('@@');
    if (row.startsWith('@@@')) draft.refusals.push(MERGE);
    if (exact && !isHeader) {
      const isStray = draft.hunks.length > 0 && looksLikeChange(row, fence) && !startsHeader(rows, at);
      if (isStray || PATCH_ROW.test(row)) return undefined;
    }
    if (!isHeader && (exact || !isBare(rows, at, fence))) {
      at += readHeaderRows(rows, at, draft, fence);
      if (exact && isBare(rows, at)) return undefined;
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
      draft.hunks.push({
        ...body,
        ...(oldStart === undefined ? {} : { oldStart }),
        ...(heading === undefined ? {} : { heading }),
        ...(!exact && counts && (old !== counts.old || added !== counts.new) ? { miscounted: true } : {}),
        ...(rows[end] === '*** End of File' ? { atEnd: true } : {}),
      });
      heading = undefined;
    }
    at = end;
  }
  if (draft.hunks.length > 0) return draft;
  if (exact) return draft.bom && draft;
  // Nothing but signed rows, some of them changes.
  const isBody = rows.some((row) => /^[+-]/.test(row)) && rows.every((row) => row === '' || /^[ +\\-]/.test(row));
  return draft.newNames.length > 0 || !isBody
    ? draft
    : { hunks: [readHunkBody(rows, false)], oldNames: [], newNames: [], refusals: [], creates: false };
}

// --- internal ---

/** The markdown fence around what is being read. */
interface Fence {
  mark?: string | undefined;
  /** It says that a diff is inside. */
  isDiff?: boolean;
  /** One has been closed: what follows is prose. */
  closed?: boolean;
}

/** What a `@@` line says. */
interface HunkHeader {
  readonly oldStart?: number;
  readonly heading?: string;
  /** Only where the line is as the format wants it. */
  readonly counts?: { readonly old: number; readonly new: number };
}

const STANDARD = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;
const PATCH_ROW = /^\*\*\* (?:(?:Begin Patch|End Patch|End of File)\s*$|(?:(?:Update|Add|Delete) File|Move to): )/;
const DIFF_LANGUAGE = /^(?:diff|patch|udiff)$/i;
/** A change, and neither an item of a list, a line of dashes nor a header. */
const CHANGE_ROW = /^(?:\+(?!\+\+ )|-(?! \S|-- |-{1,2} ?$))/;
const MERGE = 'The diff is one of a merge ("@@@"): compare with one text only.';
const RENAME = 'The diff renames or copies the file: a proposal changes the text of one file and leaves its name.';
const BINARY = 'The diff is binary: only text can be proposed.';
const DELETE = 'The diff deletes the file: a diff can change its text, not delete it.';

/** Takes in what is no hunk. @returns how many rows that are, at least 1. */
function readHeaderRows(rows: readonly string[], at: number, draft: Draft, fence: Fence): number {
  const row = rows[at] as string;
  const next = rows[at + 1] ?? '';
  if (startsHeader(rows, at)) {
    draft.oldNames.push(row.slice(4));
    draft.newNames.push(next.slice(4));
    return 2;
  }
  const [, action, name = ''] = (PATCH_ROW.test(row) && /^\*\*\* (\w+) (?:File|to): ?(.*)$/.exec(row)) || [];
  if (row.startsWith('--- ') && next.startsWith('@@')) draft.oldNames.push(row.slice(4));
  else if (row.startsWith('+++ ') && next.startsWith('@@')) draft.newNames.push(row.slice(4));
  else if (row.startsWith('diff --git ')) readGitRow(rows, at, draft);
  else if (action === 'Delete') draft.refusals.push(DELETE);
  else if (action === 'Move' || /^(?:rename|copy) (?:from|to) /.test(row)) draft.refusals.push(RENAME);
  else if (/^(?:GIT binary patch$|Binary files .* differ$)/.test(row)) draft.refusals.push(BINARY);
  else if (action !== undefined) {
    draft.creates ||= action === 'Add';
    draft.newNames.push(name.trim());
  } else if (CHANGE_ROW.test(row) && !fence.closed) draft.stray ??= row;
  else if (draft.hunks.length === 0) {
    const [, bom] = /^byte order mark (added|removed)$/.exec(row) ?? [];
    if (bom === 'added' || bom === 'removed') draft.bom = bom;
    const end = LINE_ENDS[/^added lines end with (LF|CRLF|CR)$/.exec(row)?.[1] ?? ''];
    if (end) draft.addedEnd = end;
  }
  const { mark, language = '' } = fenceOf(row);
  if (mark !== undefined && fence.mark === undefined) {
    Object.assign(fence, { mark, isDiff: DIFF_LANGUAGE.test(language) });
  } else if (mark !== undefined && language === '' && mark.startsWith(fence.mark as string)) {
    Object.assign(fence, { mark: undefined, isDiff: false, closed: true });
  }
  return 1;
}

/** `diff --git a/x b/x` names a file only where no `---` and `+++` follow that do it better. */
function readGitRow(rows: readonly string[], at: number, draft: Draft): void {
  for (let next = at + 1; next < rows.length && !(rows[next] as string).startsWith('diff --git '); next++) {
    if (startsHeader(rows, next)) return;
    if ((rows[next] as string).startsWith('@@')) break;
  }
  const [, name] = / "?b\/(.+?)"?$/.exec((rows[at] as string).slice(0, 10_000)) ?? [];
  if (name !== undefined) draft.newNames.push(name);
}

/** Also `@@`, `@@ ... @@ heading`, `@@ heading` and numbers with gaps. */
function readHunkHeader(row: string): HunkHeader {
  const close = row.indexOf('@@', 2);
  const inner = close === -1 ? row.slice(2) : row.slice(2, close);
  const after = close === -1 ? '' : row.slice(close + 2).trim();
  const numbers = /(?:^|\s)-\s?(\d{1,9})/.exec(inner.slice(0, 100));
  const heading = after || (numbers ? '' : inner.trim().replace(/^\.+$|^…$/, ''));
  const [standard, , old = '1', , added = '1'] = STANDARD.exec(row) ?? [];
  return {
    ...(numbers ? { oldStart: Number(numbers[1]) } : {}),
    ...(heading === '' ? {} : { heading }),
    ...(standard === undefined ? {} : { counts: { old: Number(old), new: Number(added) } }),
  };
}

/**
 * The lines of a hunk from its rows. A row without a sign is an unchanged line that lost its blank; so is `---` or `+++`
 * alone, which is a fence of frontmatter far more often than a change of `--`.
 *
 * @param exact - Take the signs as they are: the counts of the hunk say so.
 */
function readHunkBody(rows: readonly string[], exact: boolean): Pick<Hunk, 'lines' | 'looseTail'> {
  const lines: HunkLine[] = [];
  let looseFrom = 0;
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
      if (looseFrom <= signedUntil) looseFrom = lines.length + 1;
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
  const isLoose = looseFrom > signedUntil && looseFrom <= lines.length;
  return { lines, looseTail: isLoose ? lines.length - looseFrom + 1 : 0 };
}

/** Mark and language of a row that opens or closes a fence. */
function fenceOf(row: string): { readonly mark?: string; readonly language?: string } {
  const [, mark, language = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(row.slice(0, 100)) ?? [];
  return mark !== undefined && /^[\w-]*$/.test(language.trim()) ? { mark, language: language.trim() } : {};
}

function startsHeader(rows: readonly string[], at: number): boolean {
  return (rows[at] ?? '').startsWith('--- ') && (rows[at + 1] ?? '').startsWith('+++ ');
}

/** Signed rows, without a `@@` line, right after the names of the file or the line that opens a fence for a diff. */
function isBare(rows: readonly string[], at: number, fence: Fence = {}): boolean {
  const before = rows[at - 1] ?? '';
  const isBelowNames = startsHeader(rows, at - 2) || /^\*\*\* (?:Update|Add) File: /.test(before);
  const isBegun = isBelowNames || (fence.isDiff === true && fenceOf(before).mark !== undefined);
  return isBegun && /^[ +-]/.test(rows[at] ?? '') && !startsHeader(rows, at);
}

/** A row where prose should be. After a fence `- ` begins an item of a list; `--` begins the signature of a mail. */
function looksLikeChange(row: string, fence: Fence): boolean {
  return fence.closed ? CHANGE_ROW.test(row) : /^[ +-]/.test(row) && !/^-- ?$/.test(row);
}

function endByCounts(rows: readonly string[], from: number, counts: HunkHeader['counts']): number | undefined {
  if (!counts) return undefined;
  let { old, new: added } = counts;
  let at = from;
  while (old > 0 || added > 0) {
    // Counts that want more rows than there are may be wrong or the diff cut: nothing is made up to fill them.
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

/**
 * Whether a row that looks like the end of a fence is a line of the file: before another fence opens for a diff, changes
 * follow, or a fence that has no partner.
 */
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
