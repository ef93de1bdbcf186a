import { isCodedError, readContained, removeContained, writeContained } from 'skill-registry/kernel';
import type { SqliteDatabase } from '../open-database.ts';
import { digestOf, putBlob } from './blobs.ts';
import { type ProposalDocument, writeProposalFile } from './proposal-file.ts';
import { addEvent, dueRows, noteFileWritten, type ProposalRow, proposalOf } from './proposal-store.ts';
import { TEMPORARY } from './skill-tree.ts';

export type FileStep = 'file-temporary' | 'file-written' | 'file-noted';

/** Enough for the longest diff, its checks and what is said about it. */
const MAX_BYTES = 16 * 1024 * 1024;

export function proposalPath({ id }: Pick<ProposalRow, 'id'>): string {
  return `proposals/${id}.md`;
}

/** The text of a proposal's file; undefined when there is none. @param dataDir - Real. */
export function readProposalText(dataDir: string, row: Pick<ProposalRow, 'id'>): string | undefined {
  try {
    return readContained(dataDir, proposalPath(row), MAX_BYTES).toString('utf8');
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_NOT_FOUND')) return undefined;
    throw error;
  }
}

export function documentOf(database: SqliteDatabase, row: ProposalRow): ProposalDocument {
  const { skill_id: skill, ...proposal } = proposalOf(database, row, '');
  return { ...proposal, skill };
}

/** Whether a person has changed the file since it was written. */
export function isEdited(database: SqliteDatabase, row: ProposalRow, text: string): boolean {
  return digestOf(text) !== (row.file_digest ?? digestOf(writeProposalFile(documentOf(database, row))));
}

/**
 * Writes the files of proposals that have changed. What a person has written into one is not lost: into an open proposal it
 * is taken over first (`takeEdits`), and what comes after the decision is kept as an event.
 *
 * @param dataDir - Real.
 */
export function flushDueFiles(
  database: SqliteDatabase,
  dataDir: string,
  onStep: (step: FileStep) => void,
  at: string,
): void {
  for (const row of dueRows(database)) {
    const present = readProposalText(dataDir, row);
    if (present !== undefined && isEdited(database, row, present)) {
      if (row.state === 'open' || row.state === 'stale') continue;
      const content = { content: putBlob(database, Buffer.from(present)) };
      addEvent(database, row.id, 'late-edit', { by: 'unknown', at }, content);
    }
    const text = writeProposalFile(documentOf(database, row));
    writeFile(dataDir, row, text, onStep);
    noteFileWritten(database, row.id, digestOf(text));
    onStep('file-noted');
  }
}

// --- internal ---

function writeFile(dataDir: string, row: ProposalRow, text: string, onStep: (step: FileStep) => void): void {
  const temporary = `${TEMPORARY}${row.id}`;
  try {
    removeContained(dataDir, `proposals/${temporary}`);
  } catch {
    // No crash has left one.
  }
  writeContained(dataDir, proposalPath(row), text, { temporary, onTemporary: () => onStep('file-temporary') });
  onStep('file-written');
}
