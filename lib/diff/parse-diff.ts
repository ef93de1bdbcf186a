import { type LineEnd, quoteLine } from './lines.ts';
import { type Hunk, type ParsedRows, parseHunks } from './parse-hunks.ts';

/** A diff for one file. */
export interface ParsedDiff {
  /** The hunks that change something. Messages number them from 1. */
  readonly hunks: readonly Hunk[];
  /** Line end of the lines it adds, when the diff names one. */
  readonly addedEnd?: LineEnd | undefined;
  /** How the byte order mark changes, when the diff says so. */
  readonly bom?: 'added' | 'removed' | undefined;
  /** The diff is for a file that does not exist yet. */
  readonly creates: boolean;
}

/**
 * Parses a diff as models write it. When all counts in the `@@` lines are right, they decide which row belongs to which hunk, so
 * that a well-formed diff is read as the format says. Otherwise the signs of the rows decide.
 *
 * Also accepted: Markdown fences and prose around the diff, `*** Begin Patch`, hunks without numbers or without a header,
 * unchanged lines without their leading blank. Headers of our own express what the format cannot: `byte order mark
 * added|removed`, `added lines end with LF|CRLF|CR`, and `\ Line ends with ...` after a line.
 *
 * @returns A reason for a model when the diff cannot be parsed or is not for this file.
 */
export function parseDiff(diff: string, path: string, skillId?: string): ParsedDiff | { readonly reason: string } {
  // Lines end with LF or CRLF, or with CR when there is no LF.
  const text = diff.replace(/^\ufeff/, '');
  const rows = text.includes('\n') ? text.split(/\r?\n|\r$/) : text.split('\r');
  if (rows.at(-1) === '') rows.pop();
  if (rows.every((row) => row.trim() === '')) return { reason: `The diff is empty. ${EXPECTED}` };
  const parsed = parseHunks(rows, 'counts') ?? (parseHunks(rows, 'signs') as ParsedRows);
  const hunks = parsed.hunks.filter(({ lines }) => lines.some(({ kind }) => kind !== ' '));
  const saysNothing = parsed.bom === undefined && hunks.length === 0;
  const reason = whyRefused(parsed, path, skillId) ?? (saysNothing ? whyNoDiff(rows, parsed) : undefined);
  if (reason !== undefined) return { reason };
  const creates = parsed.creates || parsed.oldNames.some((name) => readName(name).includes(NO_FILE));
  return { hunks, creates, addedEnd: parsed.addedEnd, bom: parsed.bom };
}

// --- internal ---

const EXPECTED =
  'Write a unified diff: a line "@@", then unchanged lines with a blank before them, removed lines with "-" and added lines with "+".';
const NO_FILE = '/dev/null';
/** Words that models write instead of a file name. */
const PLACEHOLDER =
  /^(?:[ab]\/)?(?:a|b|original|modified|old|new|before|after|current|proposed|updated|previous|file)(?:[ _-]?file)?$/i;
const PREFIX = /^(?:[abciow]|old|new)\//;

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
  const names = [...otherNames]
    .slice(0, 5)
    .map((name) => quoteLine(name))
    .join(', ');
  if (isNamed || otherNames.size > 1) {
    return `The diff is for more than one file (${isNamed ? `${path}, ` : ''}${names}) or renames one: propose one file at a time, here only ${path}.`;
  }
  return `The diff is for ${names}, but the proposal is for ${path}. Paths are relative to the skill: write "--- a/${path}" and "+++ b/${path}", or name the file you mean in the path argument.`;
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

/** Characters of a file name. A longer text is cut before the patterns are tried. */
const MAX_NAME = 1024;

/** Every way to read a name: with prefix `a/`, time stamp or remark in parentheses, and without; the shortest last. */
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
