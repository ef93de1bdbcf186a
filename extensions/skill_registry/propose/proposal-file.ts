import { escapeHidden, notation, readEscaped, showEnd, showHidden } from '../../../lib/text/index.ts';
import type { Check } from '../inspect/findings.ts';
import {
  changedField,
  fencedLines,
  fenceFor,
  type ProposalFields,
  splitProposal,
  writeFields,
} from './proposal-sections.ts';

/** A proposal as its file tells it. */
export interface ProposalDocument {
  readonly id: string;
  readonly state: 'open' | 'approved' | 'rejected' | 'stale';
  readonly kind: 'update' | 'create' | 'delete';
  readonly skill: string;
  readonly source: string;
  /** Relative to the skill. */
  readonly path: string;
  /** Digest of the file's bytes the proposal was made against (`sha256:...`); null for a new file. */
  readonly base: string | null;
  readonly author: string;
  readonly model: string | null;
  /** ISO 8601 UTC. */
  readonly created: string;
  /** A unified diff as LF text; for kind `delete` empty. */
  readonly diff: string;
  readonly justification: string;
  readonly evidence: string | null;
  readonly checks: readonly Check[];
  readonly recommendations: readonly {
    readonly by: string;
    readonly at: string;
    readonly verdict: 'approve' | 'reject';
    readonly reason: string;
  }[];
  readonly decision: { readonly by: string; readonly at: string; readonly reason: string | null } | null;
  /** Shown while stale. */
  readonly conflict: string | null;
}

/** What a person may change. */
export interface ProposalEdit {
  readonly diff: string;
  readonly justification: string;
  readonly evidence: string | null;
}

/**
 * The Markdown file people read and edit. What agents wrote stands in it as quotations and in a fenced block: it begins no
 * section, and characters that would not be seen, or act on a terminal, are written as `⟦U+202E⟧`.
 */
export function writeProposalFile(document: ProposalDocument): string {
  const { checks, recommendations, decision, conflict, evidence } = document;
  const parts: readonly (readonly string[])[] = [
    [`# ${TITLES[document.kind]} ${inline(document.path)} of ${inline(document.skill)}`],
    ['## Diff', '', ...fenced('diff', diffLines(document.diff))],
    ['## Justification', '', ...quoteLines(document.justification)],
    ['## Evidence', '', ...(evidence === null ? [NONE] : quoteLines(evidence))],
    ['## Checks', '', ...(checks.length === 0 ? [NONE] : checks.map(checkLine))],
    recommendations.length === 0 ? [] : ['## Recommendations', ...recommendations.flatMap(recommendationLines)],
    decision ? ['## Decision', '', ...decisionLines(document.state, decision)] : [],
    conflict === null ? [] : ['## Conflict', '', ...fenced('text', diffLines(conflict))],
  ];
  const body = parts.filter((lines) => lines.length > 0).map((lines) => `${lines.join('\n')}\n`);
  return `---\n${writeFields(fieldsOf(document))}---\n\n${body.join('\n')}`;
}

/**
 * Reads a file a person may have edited. Line ends, blanks at line ends, and the marks of quotations are free; text that is
 * unchanged comes back exactly as it was before it was written.
 *
 * @param known - What was written last: its frontmatter must be unchanged, because people decide with commands. The sections
 *   after Evidence are ours; what stands there is not looked at.
 */
export function readProposalFile(
  text: string,
  known: ProposalDocument,
): { readonly edit: ProposalEdit } | { readonly problem: string } {
  const parts = splitProposal(text, HEADINGS);
  if ('problem' in parts) return parts;
  const problem = changedField(parts.yaml, fieldsOf(known));
  if (problem !== undefined) return { problem };
  const [diff, justification, evidence] = EDITABLE.map((heading) => parts.sections.get(heading));
  if (!diff || !justification || !evidence) {
    const missing = EDITABLE.filter((heading) => !parts.sections.has(heading)).map((heading) => `"## ${heading}"`);
    return {
      problem: `Expected the sections Diff, Justification and Evidence; ${missing.join(', ')} is missing. Put it back.`,
    };
  }
  const lines = fencedLines(diff);
  if (!lines) {
    return {
      problem:
        'Expected one fenced block below "## Diff", and nothing beside it. Open it with ```diff and end it with ```; when a line inside begins with as many backticks, use more of them.',
    };
  }
  return {
    edit: {
      diff: readDiffLines(lines, known.diff),
      justification: readQuoteLines(justification, known.justification),
      evidence: readEvidence(evidence, known.evidence),
    },
  };
}

/** A diff as the lines of a fenced block: everything that would not be seen is shown. */
export function diffLines(diff: string): readonly string[] {
  return diff
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => (line === EMPTY_CONTEXT ? line : showEnd(escapeHidden(line))));
}

/**
 * Reads the lines of a fenced block that a person may have edited.
 *
 * @param known - What `diffLines` was given; it is given back where nothing but line ends and blanks at line ends differ.
 */
export function readDiffLines(lines: readonly string[], known: string): string {
  const written = diffLines(known);
  if (sameText(lines, written)) return known;
  // An editor that strips blanks leaves nothing of an empty line of context.
  const stripped = written.includes(EMPTY_CONTEXT) && !lines.includes(EMPTY_CONTEXT);
  const kept = stripped && written.at(-1) === EMPTY_CONTEXT ? lines : trimEmptyEnd(lines);
  const from = stripped ? kept.findIndex((line) => line.startsWith('@@')) : kept.length;
  const read = kept.map((line, at) => (at > from && line === '' ? EMPTY_CONTEXT : readEscaped(line)));
  return read.length === 0 ? '' : `${read.join('\n')}\n`;
}

/** Somebody's words as a blockquote: nothing in them begins a line, nothing in them is markup that a preview obeys. */
export function quoteLines(text: string): readonly string[] {
  return text
    .replace(/\r\n/g, '\n')
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${showEnd(escapeHidden(line).replace(MARKUP, notation))}`));
}

/**
 * Reads the lines of a section that a person may have edited, with or without the marks of a quotation.
 *
 * @param known - What `quoteLines` was given; it is given back where nothing but line ends, blanks at line ends and marks of
 *   empty lines differ.
 */
export function readQuoteLines(lines: readonly string[], known: string): string {
  const texts = trimUnquoted(lines).map(unquote);
  if (sameText(trimBlankStart(texts), trimBlankStart(quoteLines(known).map(unquote)))) return known;
  return texts.map((line) => readEscaped(line.trimEnd())).join('\n');
}

/** HTML and images: markup must not pass for a section of ours, and a preview must not fetch anything. */
export const MARKUP: RegExp = /<(?=[A-Za-z/!?])|!(?=\[)/g;

// --- internal ---

const EDITABLE = ['Diff', 'Justification', 'Evidence'] as const;
const HEADINGS: ReadonlySet<string> = new Set([...EDITABLE, 'Checks', 'Recommendations', 'Decision', 'Conflict']);
const TITLES: Readonly<Record<ProposalDocument['kind'], string>> = {
  update: 'Update',
  create: 'Create',
  delete: 'Delete',
};
const DECISIONS: Readonly<Record<ProposalDocument['state'], string>> = {
  open: 'Decided',
  approved: 'Approved',
  rejected: 'Rejected',
  stale: 'Decided',
};
/** Stands where there is nothing; not quoted, so nobody's words are mistaken for it. */
const NONE = '(none)';

function fieldsOf(document: ProposalDocument): ProposalFields {
  const { id, state, kind, skill, source, path, base, author, model, created, decision } = document;
  return {
    ...{ id, state, kind, skill, source, path, base, author },
    ...(model === null ? {} : { model }),
    created,
    ...(decision ? { decided_by: decision.by, decided_at: decision.at } : {}),
  };
}

function readEvidence(lines: readonly string[], known: string | null): string | null {
  const given = lines.map((line) => line.trim()).filter((line) => line !== '');
  if (given.length === 1 && given[0] === NONE) return null;
  // Of the quotation of an empty text nothing is left when an editor takes its marks; any other was deleted by a person.
  if (given.length === 0 && known?.trim() !== '') return null;
  return readQuoteLines(lines, known ?? '');
}

function fenced(language: string, lines: readonly string[]): readonly string[] {
  const fence = fenceFor(lines.join('\n'));
  return [`${fence}${language}`, ...lines, fence];
}

function checkLine({ kind, level, text, line }: Check): string {
  const where = line === undefined ? '' : ` (line ${line})`;
  return `- ${level === 'warning' ? '**warning** ' : ''}${kind}${where}: ${inline(text)}`;
}

function recommendationLines(one: ProposalDocument['recommendations'][number]): readonly string[] {
  return ['', `To ${one.verdict}, by ${inline(one.by)}, ${inline(one.at)}:`, '', ...quoteLines(one.reason)];
}

function decisionLines(
  state: ProposalDocument['state'],
  { by, at, reason }: NonNullable<ProposalDocument['decision']>,
): readonly string[] {
  const said = `${DECISIONS[state]} by ${inline(by)}, ${inline(at)}`;
  return reason === null ? [`${said}.`] : [`${said}:`, '', ...quoteLines(reason)];
}

/** Within a line of ours. */
function inline(text: string): string {
  return showHidden(text)
    .replace(/[\n\t]/g, notation)
    .replace(MARKUP, notation);
}

const EMPTY_CONTEXT = ' ';

function unquote(line: string): string {
  return line.replace(/^ {0,3}> ?/, '');
}

function isBlank(line: string): boolean {
  return line.trim() === '';
}

/** Equal but for blanks at the ends of lines and of the text. */
function sameText(left: readonly string[], right: readonly string[]): boolean {
  const [a, b] = [trimBlankEnd(left), trimBlankEnd(right)];
  return a.length === b.length && a.every((line, at) => line.trimEnd() === b[at]?.trimEnd());
}

function trimBlankStart(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => !isBlank(line));
  return first === -1 ? [] : lines.slice(first);
}

function trimEmptyEnd(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}

function trimBlankEnd(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => !isBlank(line)) + 1);
}

/** Without the empty lines that part a section from its headings. */
function trimUnquoted(lines: readonly string[]): readonly string[] {
  return trimBlankEnd(trimBlankStart(lines));
}
