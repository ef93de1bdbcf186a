import { type Hunk, type HunkHeader, type HunkLine, newSide, oldSide, readHunkBody, readHunkHeader } from './hunk.ts';

/** What the rows of a diff say, before it is asked whether that makes sense. */
export interface Draft {
  readonly hunks: Hunk[];
  readonly oldNames: string[];
  readonly newNames: string[];
  /** What is not done here, in words a model can act on. */
  readonly refusals: string[];
  /** By a header other than `--- /dev/null`. */
  creates: boolean;
  addedEnd?: string;
  bom?: 'added' | 'removed';
  /** A row outside of all hunks that looks like a change. */
  stray?: string;
}

/** Reads rows by the counts in `@@` lines; undefined where one is missing or wrong. */
export function readByCounts(rows: readonly string[]): Draft | undefined {
  const draft = emptyDraft();
  const fence: Fence = {};
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] as string;
    if (row.startsWith('*** ') && PATCH_ROW.test(row)) return undefined;
    if (!row.startsWith('@@')) {
      if (draft.hunks.length > 0 && looksLikeChange(row, fence) && !startsHeader(rows, at)) return undefined;
      at += readHeaderRows(rows, at, draft, fence);
      if (isBareHeader(rows, at)) return undefined;
      continue;
    }
    const header = readHunkHeader(row);
    const end = header.counts && endByCounts(rows, at + 1, header.counts);
    if (end === undefined) return undefined;
    draft.hunks.push({ ...statedBy(header), lines: readHunkBody(rows.slice(at + 1, end), true).lines });
    at = end;
  }
  return draft.hunks.length > 0 || draft.bom ? draft : undefined;
}

/** Reads rows by their signs and headers, whatever the counts say. */
export function readBySigns(rows: readonly string[]): Draft {
  const draft = emptyDraft();
  const fence: Fence = {};
  const isContent = contentAfter(rows);
  let heading: string | undefined;
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] as string;
    const isHeader = row.startsWith('@@');
    if (row.startsWith('@@@')) draft.refusals.push(MERGE);
    const begins = isHeader || (at > 0 && isBareHeader(rows, at)) || (fence.isDiff === true && isBareBody(rows, at));
    if (!begins) {
      at += readHeaderRows(rows, at, draft, fence);
      continue;
    }
    const end = endBySigns(rows, at + 1, fence, isContent);
    const body = readHunkBody(rows.slice(isHeader ? at + 1 : at, end), false);
    const header = isHeader ? readHunkHeader(row) : {};
    heading = header.heading ?? heading;
    if (body.lines.length > 0) {
      const miscounted = isMiscounted(header, body.lines) ? { miscounted: true } : {};
      const atEnd = rows[end] === '*** End of File' ? { atEnd: true } : {};
      draft.hunks.push({
        ...statedBy({ ...header, ...(heading === undefined ? {} : { heading }) }),
        ...body,
        ...miscounted,
        ...atEnd,
      });
      heading = undefined;
    }
    at = end;
  }
  if (draft.hunks.length > 0 || draft.newNames.length > 0 || !isBareDiff(rows)) return draft;
  return { ...emptyDraft(), hunks: [readHunkBody(rows, false)] };
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

const PATCH_ROW = /^\*\*\* (?:(?:Begin Patch|End Patch|End of File)\s*$|(?:(?:Update|Add|Delete) File|Move to): )/;
const DIFF_LANGUAGE = /^(?:diff|patch|udiff)$/i;
/** A change, and neither an item of a list, a line of dashes nor a header. */
const CHANGE_ROW = /^(?:\+(?!\+\+ )|-(?! \S|-- |-{1,2} ?$))/;
const MERGE = 'The diff is one of a merge ("@@@"): compare with one text only.';
const RENAME = 'The diff renames or copies the file: a proposal changes the text of one file and leaves its name.';
const BINARY = 'The diff is binary: only text can be proposed.';
const DELETE = 'The diff deletes the file: a diff can change its text, not delete it.';

function emptyDraft(): Draft {
  return { hunks: [], oldNames: [], newNames: [], refusals: [], creates: false };
}

function statedBy({ oldStart, heading }: HunkHeader): Pick<Hunk, 'oldStart' | 'heading'> {
  return { ...(oldStart === undefined ? {} : { oldStart }), ...(heading === undefined ? {} : { heading }) };
}

function isMiscounted({ counts }: HunkHeader, lines: readonly HunkLine[]): boolean {
  return counts !== undefined && (oldSide(lines).length !== counts.old || newSide(lines).length !== counts.new);
}

/** Takes in what is no hunk. @returns how many rows that are, at least 1. */
function readHeaderRows(rows: readonly string[], at: number, draft: Draft, fence: Fence): number {
  const row = rows[at] as string;
  if (startsHeader(rows, at)) {
    draft.oldNames.push(row.slice(4));
    draft.newNames.push((rows[at + 1] as string).slice(4));
    return 2;
  }
  const next = rows[at + 1] ?? '';
  if (row.startsWith('--- ') && next.startsWith('@@')) draft.oldNames.push(row.slice(4));
  else if (row.startsWith('+++ ') && next.startsWith('@@')) draft.newNames.push(row.slice(4));
  else if (row.startsWith('diff --git ')) readGitRow(rows, at, draft);
  else if (PATCH_ROW.test(row)) readPatchRow(row, draft);
  else if (/^(?:rename|copy) (?:from|to) /.test(row)) draft.refusals.push(RENAME);
  else if (/^(?:GIT binary patch$|Binary files .* differ$)/.test(row)) draft.refusals.push(BINARY);
  else if (CHANGE_ROW.test(row) && !fence.closed) draft.stray ??= row;
  else if (draft.hunks.length === 0) readOwnRow(row, draft);
  readFence(row, fence);
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

function readPatchRow(row: string, draft: Draft): void {
  const [, action, name = ''] = /^\*\*\* (\w+) (?:File|to): ?(.*)$/.exec(row) ?? [];
  if (action === 'Delete') draft.refusals.push(DELETE);
  else if (action === 'Move') draft.refusals.push(RENAME);
  else if (action === 'Add') draft.creates = true;
  if (action === 'Update' || action === 'Add') draft.newNames.push(name.trim());
}

function readOwnRow(row: string, draft: Draft): void {
  const [, bom] = /^byte order mark (added|removed)$/.exec(row) ?? [];
  if (bom === 'added' || bom === 'removed') draft.bom = bom;
  const [, end] = /^added lines end with (LF|CRLF|CR)$/.exec(row) ?? [];
  if (end !== undefined) draft.addedEnd = end;
}

function readFence(row: string, fence: Fence): void {
  const [mark, language = ''] = fenceOf(row) ?? [];
  if (mark === undefined) return;
  if (fence.mark === undefined) {
    fence.mark = mark;
    fence.isDiff = DIFF_LANGUAGE.test(language);
  } else if (language === '' && mark.startsWith(fence.mark)) {
    Object.assign(fence, { mark: undefined, isDiff: false, closed: true });
  }
}

/** Mark and language of a row that opens or closes a fence. */
function fenceOf(row: string): readonly [mark: string, language: string] | undefined {
  const [, mark, language] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(row.slice(0, 100)) ?? [];
  if (mark === undefined || language === undefined || !/^[\w-]*$/.test(language.trim())) return undefined;
  return [mark, language.trim()];
}

function startsHeader(rows: readonly string[], at: number): boolean {
  return (rows[at] as string).startsWith('--- ') && (rows[at + 1] ?? '').startsWith('+++ ');
}

/** Signed rows right after the names of the file, without a `@@` line between. */
function isBareHeader(rows: readonly string[], at: number): boolean {
  const before = rows[at - 1] ?? '';
  const afterNames = at >= 2 && startsHeader(rows, at - 2);
  const isNamed = afterNames || /^\*\*\* (?:Update|Add) File: /.test(before);
  return isNamed && /^[ +-]/.test(rows[at] ?? '') && !startsHeader(rows, at);
}

/** Signed rows right after the line that opens a fence for a diff. */
function isBareBody(rows: readonly string[], at: number): boolean {
  return fenceOf(rows[at - 1] ?? '') !== undefined && /^[ +-]/.test(rows[at] ?? '') && !startsHeader(rows, at);
}

/** Nothing but signed rows, some of them changes. */
function isBareDiff(rows: readonly string[]): boolean {
  return rows.some((row) => /^[+-]/.test(row)) && rows.every((row) => row === '' || /^[ +\\-]/.test(row));
}

/** A row where prose should be. After a fence `- ` begins an item of a list; `--` begins the signature of a mail. */
function looksLikeChange(row: string, fence: Fence): boolean {
  if (fence.closed) return CHANGE_ROW.test(row);
  return /^[ +-]/.test(row) && !/^-- ?$/.test(row);
}

function endByCounts(
  rows: readonly string[],
  from: number,
  counts: { readonly old: number; readonly new: number },
): number | undefined {
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

function endBySigns(rows: readonly string[], from: number, fence: Fence, isContent: (at: number) => boolean): number {
  for (let at = from; at < rows.length; at++) {
    const row = rows[at] as string;
    if (row.startsWith('@@') || row.startsWith('diff --git ') || PATCH_ROW.test(row)) return at;
    if (startsHeader(rows, at) && (rows[at + 2] ?? '@@').startsWith('@@')) return at;
    if (fence.mark !== undefined && closes(row, fence.mark) && !isContent(at)) return at;
  }
  return rows.length;
}

function closes(row: string, open: string): boolean {
  const [mark, language] = fenceOf(row) ?? [];
  return language === '' && mark?.startsWith(open) === true && row.startsWith(mark);
}

/**
 * Tells of a row that looks like the end of a fence whether it is a line of the file: before another fence opens for a diff,
 * changes follow, or a fence that has no partner.
 */
function contentAfter(rows: readonly string[]): (at: number) => boolean {
  const isContent: boolean[] = [];
  let changes = false;
  let fences = 0;
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at] as string;
    isContent[at] = changes || fences % 2 === 1;
    const language = fenceOf(row)?.[1];
    if (language !== undefined && DIFF_LANGUAGE.test(language)) [changes, fences] = [false, 0];
    else if (language !== undefined) fences++;
    else if (CHANGE_ROW.test(row) || row.startsWith('@@')) changes = true;
  }
  return (at) => isContent[at] === true;
}
