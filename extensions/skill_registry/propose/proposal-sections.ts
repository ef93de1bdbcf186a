import { stringify } from 'yaml';
import { notation, oneLine, showEnd, showHidden } from '../../../lib/text/index.ts';
import { parseMapping } from '../skill/yaml-fields.ts';

/** A proposal file in its parts. */
export interface ProposalParts {
  /** The lines between the fences of the frontmatter. */
  readonly yaml: string;
  /** The lines below each `## heading`, without it. */
  readonly sections: ReadonlyMap<string, readonly string[]>;
}

/**
 * Splits a proposal file, whatever its line ends. A heading counts only outside of fenced blocks, and only when it is one
 * of `headings`; others belong to the text they stand in.
 */
export function splitProposal(
  text: string,
  headings: ReadonlySet<string>,
): ProposalParts | { readonly problem: string } {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  const open = lines.findIndex((line) => line.trim() !== '');
  const close = isRule(lines[open]) ? lines.findIndex((line, at) => at > open && isRule(line)) : -1;
  if (close === -1) {
    return { problem: 'Expected the frontmatter at the start of the file, between two lines of ---. Put it back.' };
  }
  const yaml = lines.slice(open + 1, close).join('\n');
  const sections = new Map<string, string[]>();
  let section: string[] | undefined;
  let fence: { readonly marks: string; readonly line: number } | undefined;
  for (const [offset, line] of lines.slice(close + 1).entries()) {
    const number = close + offset + 2;
    const heading = fence ? undefined : headingOf(line);
    if (heading !== undefined && headings.has(heading)) {
      if (sections.has(heading)) {
        return { problem: `Line ${number} is a second "## ${heading}". Keep one of them.` };
      }
      section = [];
      sections.set(heading, section);
      continue;
    }
    if (fence) fence = closes(line, fence.marks) ? undefined : fence;
    else {
      const marks = openingFence(line);
      fence = marks === undefined ? undefined : { marks, line: number };
    }
    section?.push(line);
  }
  if (fence) {
    const shown = oneLine(fence.marks, 20);
    return { problem: `The code block opened on line ${fence.line} is never closed. End it with a line of ${shown}` };
  }
  return { yaml, sections };
}

/** The lines inside the one fenced block of a section; undefined when there is none, or something beside it. */
export function fencedLines(section: readonly string[]): readonly string[] | undefined {
  const first = section.findIndex((line) => line.trim() !== '');
  const marks = openingFence(section[first] ?? '');
  if (marks === undefined) return undefined;
  const end = section.findIndex((line, at) => at > first && closes(line, marks));
  const beside = end === -1 || section.slice(end + 1).some((line) => line.trim() !== '');
  return beside ? undefined : section.slice(first + 1, end);
}

/** A fence no line of the text can close. */
export function fenceFor(text: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return '`'.repeat(longest + 1);
}

/** The frontmatter of a proposal: what is known of it beside its sections, in the order it is written. */
export type ProposalFields = Readonly<Record<string, string | null>>;

/** The lines between the fences, each with its line feed. */
export function writeFields(fields: ProposalFields): string {
  return stringify(shownFields(fields), { lineWidth: 0 });
}

/** Why these lines are not the fields as they were written; undefined when they are. Quotes and order are free. */
export function changedField(yaml: string, known: ProposalFields): string | undefined {
  const parsed = parseMapping(yaml);
  if (!('data' in parsed)) {
    const reason = oneLine(parsed.message, 200);
    return `The frontmatter is no longer valid YAML (${reason}, line ${parsed.line + 1} of the file). Put it back as it was: only the sections Diff, Justification and Evidence are yours to edit.`;
  }
  const { data } = parsed;
  const expected = shownFields(known);
  for (const [key, value] of Object.entries(expected)) {
    const given = Object.hasOwn(data, key) ? data[key] : undefined;
    if (given === undefined)
      return `The field "${key}" is gone from the frontmatter. Put it back: ${key}: ${say(value)}`;
    if (!isSame(given, value)) {
      return `The field "${key}" of the frontmatter says ${say(given)}, expected ${say(value)}. Put it back: ${remedyOf(key)}.`;
    }
  }
  const added = Object.keys(data).find((key) => !Object.hasOwn(expected, key));
  if (added === undefined) return undefined;
  return `The frontmatter has a field that was not there, ${say(added)}. Remove it: ${remedyOf(added)}.`;
}

// --- internal ---

function isRule(line: string | undefined): boolean {
  return line !== undefined && /^---[ \t]*$/.test(line);
}

function headingOf(line: string): string | undefined {
  return line.startsWith('## ') ? line.slice(3).trim() : undefined;
}

/** The marks that open a fenced block: of a fence with backticks, no backtick follows. */
function openingFence(line: string): string | undefined {
  return /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
}

function closes(line: string, marks: string): boolean {
  const found = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1] ?? '';
  return found[0] === marks[0] && found.length >= marks.length;
}

const DECIDED = new Set(['state', 'decided_by', 'decided_at']);

function remedyOf(key: string): string {
  return DECIDED.has(key)
    ? 'a proposal is decided by `skill-registry proposals approve` or `reject`, not by editing its file'
    : 'only the sections Diff, Justification and Evidence can be edited';
}

/** One line each, so that nothing in a value begins a line of the file. */
function shownFields(fields: ProposalFields): ProposalFields {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      value === null ? null : showEnd(showHidden(value).replace(/[\n\t]/g, notation)),
    ]),
  );
}

/** Quotes are free: `12` is text to whoever wrote it. */
function isSame(given: unknown, value: string | null): boolean {
  return given === value || (given !== null && typeof given !== 'object' && String(given) === value);
}

function say(value: unknown): string {
  return typeof value === 'string' ? `"${oneLine(value, 200)}"` : oneLine(JSON.stringify(value) ?? String(value), 200);
}
