import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { SqliteDatabase } from '../open-database.ts';

/** `sha256:<64 hex>` */
export function digestOf(bytes: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
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

/** @throws when there is none: a digest in the database always has its content. */
export function getBlob(database: SqliteDatabase, digest: string): Buffer {
  const row = database
    .prepare<{ deflated: number; bytes: Uint8Array }>('SELECT deflated, bytes FROM blob WHERE digest = ?')
    .get(digest);
  if (!row) throw new Error(`history.db has no content ${digest}`);
  const { buffer, byteOffset, byteLength } = row.bytes;
  return row.deflated ? inflateRawSync(row.bytes) : Buffer.from(buffer, byteOffset, byteLength);
}
