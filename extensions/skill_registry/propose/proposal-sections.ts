import { oneLine } from '../../../lib/text/index.ts';

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
