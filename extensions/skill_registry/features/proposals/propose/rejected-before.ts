import { digestOf } from '../../../../../lib/digest/index.ts';
import type { SqliteDatabase } from '../../../core/store/open-database.ts';
import { getBlob } from '../../history/revisions.ts';
import { eventsOf, type NewProposal, type ProposalRow, rowsWhere } from './proposal-store.ts';

/** For the same file and content, also as it was before a person edited it. @param after - null for a removal. */
export function rejectedBefore(
  database: SqliteDatabase,
  { place, path, base }: Pick<NewProposal, 'place' | 'path' | 'base'>,
  after: Buffer | null,
): ProposalRow | undefined {
  const wanted = after ? contentDigest(after) : removalDigest(base);
  const rows = rowsWhere(database, "state = 'rejected' AND place = ? AND path = ? ORDER BY seq DESC", place, path);
  return rows.find((row) => contentDigestsOf(database, row).includes(wanted));
}

/** Digests of the proposed text and of its versions before edits. No content can be read from them. */
export function contentDigestsOf(
  database: SqliteDatabase,
  { id, proposed, base }: Pick<ProposalRow, 'id' | 'proposed' | 'base'>,
): readonly string[] {
  const events = eventsOf(database, id, 'edited', 'purged');
  const contents = events.map(({ content }) => content as { before?: string; marks?: readonly string[] });
  const digests = [proposed, ...contents.map(({ before }) => before)].filter((digest) => typeof digest === 'string');
  const kept = contents.flatMap(({ marks = [] }) => marks);
  const removed = proposed === null && base !== null ? [removalDigest(base)] : [];
  return [...kept, ...digests.map((digest) => contentDigest(getBlob(database, digest))), ...removed];
}

/** Ignores what nobody sees: line ends, blanks at ends of lines and text, invisible characters, a BOM. */
export function contentDigest(content: Buffer): string {
  const seen = content
    .toString('utf8')
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\t\n]|\p{Default_Ignorable_Code_Point}/gu, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
  return digestOf(`content\n${seen.trimEnd()}`);
}

// --- internal ---

function removalDigest(base: string | null): string {
  return digestOf(`removal\n${base}`);
}
