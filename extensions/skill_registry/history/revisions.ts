import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { isPrivatePath } from '../../../lib/files/index.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { revisionNotFound, rowRefused } from './errors.ts';
import type { SkillLocation } from './skill-location.ts';
import { digestOf, type SkillTree, treeDigest } from './skill-tree.ts';
import type { Revision, RevisionFile } from './types.ts';

/** What a new revision says of itself. */
export interface RevisionNote {
  readonly kind: Revision['kind'];
  readonly by: string;
  readonly reason?: string | undefined;
  readonly proposal?: string | undefined;
  /** The revision it goes back to. */
  readonly target?: number | undefined;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** Puts what a skill is now into the history, whoever made it what it is. Nothing when that is its last revision. */
export function recordPresent(
  database: SqliteDatabase,
  { key, skillId }: Pick<SkillLocation, 'key' | 'skillId'>,
  tree: SkillTree,
  at: string,
): void {
  const kind = lastRevision(database, key) ? 'edited' : 'seen';
  database.transaction(() => addRevision(database, key, skillId, tree, { kind, by: 'unknown', at }));
}

/**
 * Keeps what a skill is now, unless that is what it was last: then the last revision is given.
 *
 * @param place - Which skill; an id may pass to another folder.
 */
export function addRevision(
  database: SqliteDatabase,
  key: string,
  skillId: string,
  tree: SkillTree,
  note: RevisionNote,
): Revision {
  const digest = treeDigest(tree.files);
  const before = lastRevision(database, key);
  // Removing and restoring change nothing in the files, and are to be seen all the same.
  const isMove = note.kind === 'removed' || note.kind === 'restored';
  if (before?.digest === digest && !isMove) return before;
  for (const bytes of tree.bytes.values()) putBlob(database, bytes);
  const number = (before?.number ?? 0) + 1;
  database
    .prepare(
      `INSERT INTO revision (place, number, skill_id, digest, tree, kind, at, by, reason, proposal, target)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      ...[key, number, skillId, digest, JSON.stringify(tree.files), note.kind, note.at, note.by],
      ...[note.reason ?? null, note.proposal ?? null, note.target ?? null],
    );
  return lastRevision(database, key) as Revision;
}

export function lastRevision(database: SqliteDatabase, key: string): Revision | undefined {
  const row = database.prepare('SELECT * FROM revision WHERE place = ? ORDER BY number DESC LIMIT 1').get(key);
  return row ? revisionOf(row as RevisionRow) : undefined;
}

/** Oldest first. */
export function revisionsOf(database: SqliteDatabase, key: string): readonly Revision[] {
  const rows = database.prepare('SELECT * FROM revision WHERE place = ? ORDER BY number').all(key);
  return (rows as RevisionRow[]).map(revisionOf);
}

/** Where a skill that is not in the catalog was last: removed, or its folder has gone. */
export function lastKeyOf(database: SqliteDatabase, skillId: string): string | undefined {
  const row = database.prepare('SELECT place FROM revision WHERE skill_id = ? ORDER BY seq DESC LIMIT 1').get(skillId);
  return (row as { place: string } | undefined)?.place;
}

/** @param wanted - A number, or the first characters of a digest (at least four). @throws REVISION_NOT_FOUND. */
export function findRevision(revisions: readonly Revision[], skillId: string, wanted: string | number): Revision {
  const text = String(wanted).trim();
  const digest = text.replace(/^sha256:/, '');
  const found =
    revisions.find(({ number }) => String(number) === text.replace(/^r/, '')) ??
    (digest.length >= 4 ? revisions.findLast((one) => one.digest.startsWith(`sha256:${digest}`)) : undefined);
  if (!found) throw revisionNotFound(skillId, text, revisions.length);
  return found;
}

/** The content of a file of a revision. */
export function bytesOf(database: SqliteDatabase, file: RevisionFile): Buffer | undefined {
  return file.kept ? getBlob(database, file.digest) : undefined;
}

/** Keeps a content once. @returns its digest. */
export function putBlob(database: SqliteDatabase, bytes: Buffer): string {
  const digest = digestOf(bytes);
  const known = database.prepare('SELECT 1 FROM blob WHERE digest = ?').get(digest);
  if (known) return digest;
  const deflated = deflateRawSync(bytes, { level: 4 });
  const shorter = deflated.length < bytes.length;
  database
    .prepare('INSERT INTO blob (digest, size, deflated, bytes) VALUES (?, ?, ?, ?)')
    .run(digest, bytes.length, shorter ? 1 : 0, shorter ? deflated : bytes);
  return digest;
}

/** @throws HISTORY_ROW_REFUSED when there is none, or another one: a digest in the database always has its content. */
export function getBlob(database: SqliteDatabase, digest: string): Buffer {
  const row = database.prepare<BlobRow>('SELECT deflated, size, bytes FROM blob WHERE digest = ?').get(digest);
  let bytes: Buffer | undefined;
  try {
    if (row?.deflated) bytes = inflateRawSync(row.bytes, { maxOutputLength: Math.max(1, row.size) });
    else if (row) bytes = Buffer.from(row.bytes.buffer, row.bytes.byteOffset, row.bytes.byteLength);
  } catch {
    // They cannot be inflated to as many as are said.
  }
  if (bytes && digestOf(bytes) === digest) return bytes;
  throw rowRefused(`${bytes ? 'another' : 'no'} content for ${JSON.stringify(String(digest).slice(0, 80))}`);
}

// --- internal ---

interface RevisionRow {
  readonly number: number;
  readonly digest: string;
  readonly skill_id: string;
  readonly kind: Revision['kind'];
  readonly at: string;
  readonly by: string;
  readonly reason: string | null;
  readonly proposal: string | null;
  readonly tree: string;
}

function revisionOf({
  number,
  digest,
  skill_id: skillId,
  kind,
  at,
  by,
  reason,
  proposal,
  tree,
}: RevisionRow): Revision {
  // An older version kept everything: it is neither shown nor brought back.
  const files = (JSON.parse(tree) as RevisionFile[]).filter(({ path }) => !isPrivatePath(path));
  return { number, digest, skillId, kind, at, by, reason, proposal, files };
}

interface BlobRow {
  readonly deflated: number;
  readonly size: number;
  readonly bytes: Uint8Array;
}
