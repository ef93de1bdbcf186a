import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import { readContained, removeContained, writeContained } from '../../../lib/files/index.ts';
import { putBlob } from '../history/revisions.ts';
import { digestOf } from '../history/skill-tree.ts';
import type { WriteStep } from '../history/writer.ts';
import { TEMPORARY } from '../sources/walk/find-skill-files.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { type ProposalDocument, writeProposalFile } from './proposal-file.ts';
import { addEvent, dueRows, noteFileWritten, type ProposalRow, proposalOf } from './proposal-store.ts';

/** Enough for the longest diff, its checks and what is said about it. */
const MAX_BYTES = 16 * 1024 * 1024;

export function proposalPath({ id }: Pick<ProposalRow, 'id'>): string {
  return `proposals/${id}.md`;
}

/** The text of a proposal's file, undefined where nothing is; or why it cannot be read. */
export type ProposalText = { readonly text: string | undefined } | { readonly problem: string };

/** @param dataDir - Real. */
export function readProposalText(dataDir: string, row: Pick<ProposalRow, 'id'>): ProposalText {
  const path = proposalPath(row);
  try {
    return { text: readContained(dataDir, path, MAX_BYTES, { own: true }).toString('utf8') };
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_NOT_FOUND') && !isAnything(join(dataDir, path))) return { text: undefined };
    if (isCodedError(error, 'PATH_TRAVERSAL'))
      return { problem: `a link stands in its place or above it. ${REMOVE_IT}` };
    return { problem: `${describeError(error)} ${REMOVE_IT}` };
  }
}

export function documentOf(database: SqliteDatabase, row: ProposalRow): ProposalDocument {
  const { skill_id: skill, ...proposal } = proposalOf(database, row, '');
  return { ...proposal, skill };
}

/** Whether a person has changed the file since it was written; a crash may have come before that was noted. */
export function isEdited(database: SqliteDatabase, row: ProposalRow, text: string): boolean {
  return digestOf(text) !== row.file_digest && text !== writeProposalFile(documentOf(database, row));
}

/**
 * Writes the files of proposals that have changed. What a person has written into one is not lost: into an open proposal it
 * is taken over first (`takeEdits`), and what comes after the decision is kept as an event. One that cannot be written stays
 * due, and hinders nobody: what is decided is decided.
 *
 * @param dataDir - Real.
 * @returns WRITE_FAILED for each file that could not be written.
 */
export function flushDueFiles(
  database: SqliteDatabase,
  dataDir: string,
  onStep: (step: WriteStep) => void,
  at: string,
): readonly Problem[] {
  const problems: Problem[] = [];
  for (const row of dueRowsIn(database)) {
    try {
      flushFile(database, dataDir, row, onStep, at);
    } catch (error) {
      const message = `The file of the proposal ${row.id} cannot be written now (${describeError(error)}). It is tried again when skills are changed next.`;
      problems.push({ code: 'WRITE_FAILED', severity: 'warning', file: join(dataDir, proposalPath(row)), message });
    }
  }
  return problems;
}

// --- internal ---

const REMOVE_IT = 'Remove what is there, and the file is written anew.';

/** None where they cannot be read: whoever wants to know of proposals is told why. */
function dueRowsIn(database: SqliteDatabase): readonly ProposalRow[] {
  try {
    return dueRows(database);
  } catch {
    return [];
  }
}

function flushFile(
  database: SqliteDatabase,
  dataDir: string,
  row: ProposalRow,
  onStep: (step: WriteStep) => void,
  at: string,
): void {
  const present = readProposalText(dataDir, row);
  // Whoever looks at the proposal is told.
  if ('problem' in present) return;
  if (present.text !== undefined && isEdited(database, row, present.text)) {
    if (row.state === 'open' || row.state === 'stale') return;
    const content = { content: putBlob(database, Buffer.from(present.text)) };
    addEvent(database, row.id, 'late-edit', { by: 'unknown', at }, content);
  }
  const text = writeProposalFile(documentOf(database, row));
  writeFile(dataDir, row, text, onStep);
  noteFileWritten(database, row.id, digestOf(text));
  onStep('file-noted');
}

function isAnything(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function writeFile(dataDir: string, row: ProposalRow, text: string, onStep: (step: WriteStep) => void): void {
  const temporary = `${TEMPORARY}${row.id}`;
  try {
    removeContained(dataDir, `proposals/${temporary}`, { own: true });
  } catch {
    // No crash has left one.
  }
  const onTemporary = (): void => onStep('file-temporary');
  writeContained(dataDir, proposalPath(row), text, { own: true, temporary, onTemporary });
  onStep('file-written');
}
