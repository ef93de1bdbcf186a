import { join } from 'node:path';
import { describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import { yamlPackage } from '../../../kernel/host.ts';
import {
  listContained,
  readContained,
  removeContained,
  renameContained,
  writeContained,
} from '../../../lib/files/index.ts';
import { notation, showEnd, showHidden } from '../../../lib/text/index.ts';
import { digestOf } from '../history/skill-tree.ts';
import type { WriteStep } from '../history/writer.ts';
import type { Check } from '../inspect/findings.ts';
import { TEMPORARY } from '../sources/walk/find-skill-files.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import {
  addEvent,
  dueRows,
  editProblem,
  keptName,
  noteReport,
  type ProposalRow,
  proposalOf,
  reportPath,
  rowsWithEdits,
} from './proposal-store.ts';
import type { Proposal } from './types.ts';

/**
 * The Markdown file people read of a proposal. What agents wrote stands in it as quotations and in a fenced block: it begins no
 * section, and characters that would not be seen, or act on a terminal, are written as `⟦U+202E⟧`.
 */
export function reportOf(proposal: Proposal): string {
  const { kind, state, path, skillId, checks, recommendations, decision, conflict, evidence } = proposal;
  const parts: readonly (readonly string[])[] = [
    [`# ${TITLES[kind]} ${inline(path)} of ${inline(skillId)}`],
    ['## Diff', '', ...fenced('diff', proposal.diff)],
    ['## Justification', '', ...quoted(proposal.justification)],
    ['## Evidence', '', ...(evidence === null ? [NONE] : quoted(evidence))],
    ['## Checks', '', ...(checks.length === 0 ? [NONE] : checks.map(checkLine))],
    recommendations.length === 0 ? [] : ['## Recommendations', ...recommendations.flatMap(recommendationLines)],
    decision ? ['## Decision', '', ...decisionLines(state, decision)] : [],
    conflict === null ? [] : ['## Conflict', '', ...fenced('text', conflict)],
  ];
  const body = parts.filter((lines) => lines.length > 0).map((lines) => `${lines.join('\n')}\n`);
  return `---\n${fieldLines(proposal)}---\n\n${body.join('\n')}`;
}

/** Whether somebody else has written into a report. What is no file there has no text of anybody. @param dataDir - Real. */
export function isReportEdited(dataDir: string, row: ProposalRow): boolean {
  const present = presentDigest(dataDir, row);
  return present !== undefined && !isOurs(row, present);
}

/** Whether the report is there, as it was written last. @param dataDir - Real. */
export function isReportThere(dataDir: string, row: ProposalRow): boolean {
  const present = presentDigest(dataDir, row);
  return present !== undefined && isOurs(row, present);
}

/**
 * Writes the reports of proposals that have changed. One that somebody has edited gets another name first. One that cannot be
 * written stays due, and hinders nobody: what is decided is decided.
 *
 * @param dataDir - Real.
 * @returns WRITE_FAILED for each report that could not be written, PROPOSAL_FILE_EDITED for each that somebody has edited, as long
 *   as the file is there that was kept.
 */
export function writeDueReports(
  database: SqliteDatabase,
  dataDir: string,
  onStep: (step: WriteStep) => void,
  at: string,
): readonly Problem[] {
  const problems: Problem[] = [];
  try {
    for (const row of dueRows(database)) {
      try {
        writeReport(database, dataDir, row, onStep, at);
      } catch (error) {
        const message = `The report of the proposal ${row.id} cannot be written now: ${describeError(error)} If something else stands in its place, remove it. It is tried again when skills are changed next.`;
        problems.push({ code: 'WRITE_FAILED', severity: 'warning', file: join(dataDir, reportPath(row)), message });
      }
    }
    for (const row of rowsWithEdits(database)) {
      const problem = editProblem(database, row, dataDir);
      if (problem) problems.push(problem);
    }
  } catch {
    // The rows cannot be read: whoever wants to know of proposals is told why.
  }
  return problems;
}

// --- internal ---

/** Enough for the longest diff, its checks and what is said about it. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Digest of the report as it is; empty for what is longer than any report, undefined where no file is. */
function presentDigest(dataDir: string, row: ProposalRow): string | undefined {
  try {
    return digestOf(readContained(dataDir, reportPath(row), MAX_BYTES, { own: true }));
  } catch (error) {
    return isCodedError(error, 'RESOURCE_TOO_LARGE') ? '' : undefined;
  }
}

/** A crash may have left the report before the last one, or the last one: both digests are noted before it is written. */
function isOurs({ file_digest }: ProposalRow, digest: string): boolean {
  return (file_digest ?? '').split(' ').includes(digest) && digest !== '';
}

function writeReport(
  database: SqliteDatabase,
  dataDir: string,
  row: ProposalRow,
  onStep: (step: WriteStep) => void,
  at: string,
): void {
  const text = reportOf(proposalOf(database, row, dataDir));
  const [present = '', digest] = [presentDigest(dataDir, row), digestOf(text)];
  const expected = { ...row, file_digest: isOurs(row, present) ? `${present} ${digest}` : digest };
  noteReport(database, row.id, { digests: expected.file_digest, due: true });
  const temporary = `${TEMPORARY}${row.id}`;
  try {
    removeContained(dataDir, `proposals/${temporary}`, { own: true });
  } catch {
    // No crash has left one.
  }
  const onTemporary = (): void => {
    onStep('file-temporary');
    // As late as can be: an editor may save at any moment.
    if (isReportEdited(dataDir, expected)) keepEdited(database, dataDir, row, at);
  };
  writeContained(dataDir, reportPath(row), text, { own: true, temporary, onTemporary });
  onStep('file-written');
  noteReport(database, row.id, { digests: digest, due: false });
  onStep('file-noted');
}

/** Gives a report that somebody has edited another name beside it, which nothing has yet. */
function keepEdited(database: SqliteDatabase, dataDir: string, row: ProposalRow, at: string): void {
  const taken = new Set(listContained(dataDir, 'proposals', { own: true }).map(({ name }) => name));
  let n = 1;
  while (taken.has(keptName(row, n))) n++;
  const name = keptName(row, n);
  // Noted first: after a crash it is said, and gets that name.
  addEvent(database, row.id, 'file-edited', { by: 'unknown', at }, { file: name });
  renameContained(dataDir, reportPath(row), name, { own: true });
}

const TITLES: Readonly<Record<Proposal['kind'], string>> = { update: 'Update', create: 'Create', delete: 'Delete' };
/** Stands where there is nothing; not quoted, so nobody's words are mistaken for it. */
const NONE = '(none)';
/** A line of context that is empty: the blank is the mark of a diff. */
const EMPTY_CONTEXT = ' ';
/** HTML and images: markup must not pass for a section of ours, and a preview must not fetch anything. */
const MARKUP = /<(?=[A-Za-z/!?])|!(?=\[)/g;

/** One line each, so that nothing in a value begins a line of the file. */
function fieldLines(proposal: Proposal): string {
  const { id, state, kind, skillId: skill, source, path, base, author, model, created, decision } = proposal;
  const fields: Readonly<Record<string, string | null>> = {
    ...{ id, state, kind, skill, source, path, base, author },
    ...(model === null ? {} : { model }),
    created,
    ...(decision ? { decided_by: decision.by, decided_at: decision.at } : {}),
  };
  const shown = Object.entries(fields).map(([key, value]) => [
    key,
    value && showEnd(showHidden(value).replace(/[\n\t]/g, notation)),
  ]);
  return yamlPackage().stringify(Object.fromEntries(shown), { lineWidth: 0 });
}

/** In a block that no line of the text can end. */
function fenced(language: string, text: string): readonly string[] {
  const shown = text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => (line === EMPTY_CONTEXT ? line : showEnd(showHidden(line))));
  let longest = 2;
  for (const [run] of shown.join('\n').matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return [`${fence}${language}`, ...shown, fence];
}

/** Somebody's words as a quotation: nothing in them begins a line, nothing in them is markup that a preview obeys. */
function quoted(text: string): readonly string[] {
  return text
    .replace(/\r\n/g, '\n')
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${showEnd(showHidden(line).replace(MARKUP, notation))}`));
}

function checkLine({ kind, level, text, line }: Check): string {
  const where = line === undefined ? '' : ` (line ${line})`;
  return `- ${level === 'warning' ? '**warning** ' : ''}${kind}${where}: ${inline(text)}`;
}

function recommendationLines(one: Proposal['recommendations'][number]): readonly string[] {
  return ['', `To ${one.verdict}, by ${inline(one.by)}, ${inline(one.at)}:`, '', ...quoted(one.reason)];
}

function decisionLines(
  state: Proposal['state'],
  { by, at, reason }: NonNullable<Proposal['decision']>,
): readonly string[] {
  const said = `${state === 'approved' ? 'Approved' : 'Rejected'} by ${inline(by)}, ${inline(at)}`;
  return reason === null ? [`${said}.`] : [`${said}:`, '', ...quoted(reason)];
}

/** Within a line of ours. */
function inline(text: string): string {
  return showHidden(text)
    .replace(/[\n\t]/g, notation)
    .replace(MARKUP, notation);
}
