import { type LineEnd, quoteLine } from './lines.ts';
import { type Draft, type Hunk, readHunks } from './read-hunks.ts';

/** A diff for one file. */
export interface ReadDiff {
  /** Those that change something; the first is hunk 1. */
  readonly hunks: readonly Hunk[];
  /** Of the lines it adds, where it says so. */
  readonly addedEnd?: LineEnd | undefined;
  /** What becomes of the byte order mark, where it says so. */
  readonly bom?: 'added' | 'removed' | undefined;
  /** It is for a file that is not there yet. */
  readonly creates: boolean;
}

/**
 * Reads a diff as models write it. Where all counts of its `@@` lines are right they say which row belongs to which hunk, so
 * that every well-formed diff means what it says; otherwise the signs say it.
 *
 * Beside the usual format: markdown fences and prose around it, `*** Begin Patch`, hunks without numbers or without any
 * header, unchanged lines that lost their blank. Two headers of our own tell what else a diff cannot: `byte order mark
 * added|removed` and `added lines end with LF|CRLF|CR`; after a line, `\ Line ends with ...` does for that one.
 *
 * @returns A reason, in words a model can act on, where it cannot be read or is not for this file.
 */
export function readDiff(diff: string, path: string, skillId?: string): ReadDiff | { readonly reason: string } {
  // Ended by LF or CRLF; by CR where there is no other.
  const text = diff.replace(/^\ufeff/, '');
  const rows = text.includes('\n') ? text.split(/\r?\n|\r$/) : text.split('\r');
  if (rows.at(-1) === '') rows.pop();
  if (rows.every((row) => row.trim() === '')) return { reason: `The diff is empty. ${WANTED}` };
  const draft = readHunks(rows, 'counts') ?? (readHunks(rows, 'signs') as Draft);
  const hunks = draft.hunks.filter(({ lines }) => lines.some(({ kind }) => kind !== ' '));
  const saysNothing = draft.bom === undefined && hunks.length === 0;
  const reason = whyRefused(draft, path, skillId) ?? (saysNothing ? whyNoDiff(rows, draft) : undefined);
  if (reason !== undefined) return { reason };
  const creates = draft.creates || draft.oldNames.some((name) => readName(name).includes(NO_FILE));
  return { hunks, creates, addedEnd: draft.addedEnd, bom: draft.bom };
}

// --- internal ---

const WANTED =
  'Write a unified diff: a line "@@", then unchanged lines with a blank before them, removed lines with "-" and added lines with "+".';
const NO_FILE = '/dev/null';
/** What some write where a name belongs. */
const PLACEHOLDER =
  /^(?:[ab]\/)?(?:a|b|original|modified|old|new|before|after|current|proposed|updated|previous|file)(?:[ _-]?file)?$/i;
const PREFIX = /^(?:[abciow]|old|new)\//;

function whyRefused(
  { hunks, oldNames, newNames, refusals, stray }: Draft,
  path: string,
  skillId?: string,
): string | undefined {
  const [refusal] = refusals;
  if (refusal !== undefined) return refusal;
  if (stray !== undefined && hunks.length > 0) {
    return `The line ${quoteLine(stray)} looks like a change, but stands outside of every hunk. Put each change below a "@@" line.`;
  }
  if (newNames.some((name) => readName(name).includes(NO_FILE))) {
    return `The diff deletes the file. A diff can change the text of ${path}, not delete it.`;
  }
  const others = new Set<string>();
  let namesIt = false;
  for (const name of new Set([...oldNames, ...newNames])) {
    const readings = readName(name);
    const isOwn = readings.some(
      (one) => one === path || (skillId !== undefined && `/${one}`.endsWith(`/${skillId}/${path}`)),
    );
    if (isOwn) namesIt = true;
    else if (!readings.includes(NO_FILE) && !readings.some((one) => PLACEHOLDER.test(one))) {
      others.add((readings.at(-1) ?? name).replace(PREFIX, ''));
    }
  }
  if (others.size === 0) return undefined;
  const names = [...others]
    .slice(0, 5)
    .map((name) => quoteLine(name))
    .join(', ');
  if (namesIt || others.size > 1) {
    return `The diff is for more than one file (${namesIt ? `${path}, ` : ''}${names}) or renames one: propose one file at a time, here only ${path}.`;
  }
  return `The diff is for ${names}, but the proposal is for ${path}. Paths are relative to the skill: write "--- a/${path}" and "+++ b/${path}", or name the file you mean in the path argument.`;
}

function whyNoDiff(rows: readonly string[], { hunks }: Draft): string {
  if (hunks.length > 0) {
    return 'The diff changes nothing: none of its lines begins with "-" or "+". Mark what goes with "-" and what comes with "+".';
  }
  const has = (pattern: RegExp): boolean => rows.some((row) => pattern.test(row));
  const instead = (what: string): string => `This is ${what}, not a unified diff. ${WANTED}`;
  if (has(/^<{5,9} ?(?:SEARCH|ORIGINAL|HEAD|current)/i) && has(/^={5,9}$/))
    return instead('a block to search and replace');
  if (has(/^\*{15}$/)) return instead('a context diff');
  if (has(/^\d+(?:,\d+)?[acd]\d+(?:,\d+)?$/) && has(/^[<>] /)) return instead('a diff in the format of plain "diff"');
  const first = rows.find((row) => row.trim() !== '') ?? '';
  if (has(/^(?:diff --git |--- |\+\+\+ |@@|\*\*\* (?:Begin Patch|Update File))/)) {
    return `The diff has headers, but no line that is removed or added. ${WANTED}`;
  }
  return `This is not a diff; it begins with ${quoteLine(first)}. ${WANTED} A whole new text is proposed as content instead.`;
}

/** No name of ours is longer, and patterns need not be tried on what is none. */
const MAX_NAME = 1024;

/** Every way to read a name, the plainest last: with prefix `a/`, time stamp or remark in parentheses, and without. */
function readName(written: string): readonly string[] {
  const name = written.slice(0, MAX_NAME);
  const plain = (name.split('\t', 1)[0] as string).trim();
  let bare = /^`([^`]+)`$/.exec(plain)?.[1] ?? plain;
  if (/^".*"$/.test(bare)) {
    try {
      bare = String(JSON.parse(bare));
    } catch {
      bare = bare.slice(1, -1);
    }
  }
  const undated = bare.replace(/ \d{4}-\d\d-\d\d[\d:. +-]*$/, '').trimEnd();
  return [name, plain, bare, undated, undated.replace(/ \([^()]*\)$/, '').trimEnd()].flatMap((one) => {
    const here = one.replace(/^\.\//, '');
    return [one, here.replace(PREFIX, '').replace(/^\.\//, ''), here];
  });
}
