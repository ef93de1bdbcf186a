import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { CodedError } from 'skill-registry/kernel';
import { digestOf } from '../../../../lib/digest/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import { isPrivatePath } from '../../../../lib/files/index.ts';
import type { SqliteDatabase } from '../../core/store/open-database.ts';
import { quoted, rowRefused } from './errors.ts';
import type { Operation } from './journal/journal-entries.ts';
import type { SkillLocation } from './skill-location.ts';
import { type SkillTree, treeDigest } from './skill-tree.ts';
import type { Revision, RevisionFile } from './types.ts';

/** `target`: the number of the revision that it restores. */
export type RevisionNote = Pick<Operation, 'kind' | 'by' | 'reason' | 'proposal' | 'target' | 'at'>;

/** Records the content on disk, unless the last revision has it. @param note - Default: it was found there. */
export function recordPresent(
  database: SqliteDatabase,
  location: Pick<SkillLocation, 'key' | 'skillId'>,
  tree: SkillTree,
  at: string,
  note?: Omit<RevisionNote, 'at'>,
): Revision {
  const found = { kind: lastRevision(database, location.key) ? 'edited' : 'seen', by: 'unknown' } as const;
  return database.transaction(() => addRevision(database, location, tree, { ...(note ?? found), at }));
}

/** Adds nothing for the same content. Goes by the key, because an id may move to another folder. */
export function addRevision(
  database: SqliteDatabase,
  { key, skillId }: Pick<SkillLocation, 'key' | 'skillId'>,
  tree: SkillTree,
  { kind, at, by, reason, proposal, target }: RevisionNote,
): Revision {
  const digest = treeDigest(tree.files);
  const before = lastRevision(database, key);
  // Removing and restoring change no file, but the history shows them.
  const isMove = kind === 'removed' || kind === 'restored';
  if (before?.digest === digest && !isMove) return before;
  for (const bytes of tree.bytes.values()) putBlob(database, bytes);
  const number = (before?.number ?? 0) + 1;
  database
    .prepare(
      `INSERT INTO revision (place, number, skill_id, digest, tree, kind, at, by, reason, proposal, target)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      ...[key, number, skillId, digest, JSON.stringify(tree.files), kind, at, by],
      ...[reason ?? null, proposal ?? null, target ?? null],
    );
  return lastRevision(database, key) as Revision;
}

export function lastRevision(database: SqliteDatabase, key: string): Revision | undefined {
  const sql = 'SELECT * FROM revision WHERE place = ? ORDER BY number DESC LIMIT 1';
  const row = database.prepare<RevisionRow>(sql).get(key);
  return row && revisionOf(row);
}

/** Number of the last revision that somebody made here; null: all were found on disk. */
export function lastDecided(database: SqliteDatabase, key: string): number | null {
  const sql = "SELECT max(number) AS number FROM revision WHERE place = ? AND kind NOT IN ('seen', 'edited')";
  return database.prepare<{ number: number | null }>(sql).get(key)?.number ?? null;
}

export function revisionsOf(database: SqliteDatabase, key: string): readonly Revision[] {
  return database
    .prepare<RevisionRow>('SELECT * FROM revision WHERE place = ? ORDER BY number')
    .all(key)
    .map(revisionOf);
}

/** The last key of a skill that is no longer in the catalog. */
export function lastKeyOf(database: SqliteDatabase, skillId: string): string | undefined {
  const sql = 'SELECT place FROM revision WHERE skill_id = ? ORDER BY seq DESC LIMIT 1';
  return database.prepare<{ place: string }>(sql).get(skillId)?.place;
}

export interface LoadedRevisions {
  readonly revisions: readonly Revision[];
  readonly reason?: string | undefined;
}

/** @param name - A number, or at least 4 characters from the start of a digest. @throws REVISION_NOT_FOUND. */
export function findRevision({ revisions, reason }: LoadedRevisions, skillId: string, name: string | number): Revision {
  const text = String(name).trim();
  const numbered = revisions.find(({ number }) => String(number) === text.replace(/^r/, ''));
  if (numbered) return numbered;
  const start = text.replace(/^sha256:/, '');
  const begun = start.length < 4 ? [] : revisions.filter(({ digest }) => digest.startsWith(`sha256:${start}`));
  const found = begun.at(-1);
  if (found && begun.every(({ digest }) => digest === found.digest)) return found;
  if (found) {
    const numbers = begun.map(({ number }) => number);
    const message = `${quoted(start, 80)} begins the digests of the revisions ${numbers.join(', ')}. Give a number, or more of the digest.`;
    throw new CodedError('REVISION_NOT_FOUND', message, { numbers });
  }
  const last = revisions.at(-1)?.number ?? 0;
  const what = last > 1 ? `the revisions 1 to ${last}` : 'revision 1';
  const advice =
    last > 0
      ? `. It has ${what}: give one of these numbers, or at least 4 characters from the start of a digest. \`skill-registry history ${skillId}\` lists both.`
      : `: nothing is recorded of it. ${reason ?? ''}`.trimEnd();
  const message = `"${skillId}" has no revision ${quoted(text, 80)}${advice}`;
  throw new CodedError('REVISION_NOT_FOUND', message, { skill_id: skillId, last });
}

/** Of a file too large to be kept: undefined. */
export function storedBytes(database: SqliteDatabase, file: RevisionFile): Buffer | undefined {
  return file.kept ? getBlob(database, file.digest) : undefined;
}

export function putBlob(database: SqliteDatabase, bytes: Buffer): string {
  const digest = digestOf(bytes);
  const isStored = database.prepare('SELECT 1 FROM blob WHERE digest = ?').get(digest) !== undefined;
  if (isStored) return digest;
  const deflated = deflateRawSync(bytes, { level: 4 });
  const shorter = deflated.length < bytes.length;
  database
    .prepare('INSERT INTO blob (digest, size, deflated, bytes) VALUES (?, ?, ?, ?)')
    .run(digest, bytes.length, shorter ? 1 : 0, shorter ? deflated : bytes);
  return digest;
}

/** @throws HISTORY_ROW_REFUSED for a missing content or another digest: no registry leaves it so. */
export function getBlob(database: SqliteDatabase, digest: string): Buffer {
  const sql = 'SELECT deflated, size, bytes FROM blob WHERE digest = ?';
  const row = database.prepare<{ deflated: number; size: number; bytes: Uint8Array }>(sql).get(digest);
  // Undefined also for bytes that do not inflate to the stated size.
  const bytes = withFallback(() => {
    if (row?.deflated) return inflateRawSync(row.bytes, { maxOutputLength: Math.max(1, row.size) });
    return row && Buffer.from(row.bytes.buffer, row.bytes.byteOffset, row.bytes.byteLength);
  });
  if (bytes && digestOf(bytes) === digest) return bytes;
  throw rowRefused(`${bytes ? 'another' : 'no'} content for ${JSON.stringify(String(digest).slice(0, 80))}`);
}

// --- internal ---

type RevisionRow = Omit<Revision, 'skillId' | 'files'> & { readonly skill_id: string; readonly tree: string };

function revisionOf(row: RevisionRow): Revision {
  const { number, digest, skill_id: skillId, kind, at, by, reason, proposal } = row;
  // Older releases also recorded private files. They are neither shown nor restored.
  const files = (JSON.parse(row.tree) as RevisionFile[]).filter(({ path }) => !isPrivatePath(path));
  return { number, digest, skillId, kind, at, by, reason, proposal, files };
}
