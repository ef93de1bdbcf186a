import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { SqliteDatabase } from '../store/open-database.ts';
import { rowRefused } from './errors.ts';

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

/** @throws HISTORY_ROW_REFUSED when there is none, or another one: a digest in the database always has its content. */
export function getBlob(database: SqliteDatabase, digest: string): Buffer {
  const row = database.prepare<BlobRow>('SELECT deflated, size, bytes FROM blob WHERE digest = ?').get(digest);
  const bytes = row && contentOf(row);
  if (bytes && digestOf(bytes) === digest) return bytes;
  throw rowRefused(`${bytes ? 'another' : 'no'} content for ${JSON.stringify(String(digest).slice(0, 80))}`);
}

// --- internal ---

/** Undefined for bytes that cannot be inflated to as many as are said. */
function contentOf({ deflated, size, bytes }: BlobRow): Buffer | undefined {
  try {
    if (deflated) return inflateRawSync(bytes, { maxOutputLength: Math.max(1, size) });
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch {
    return undefined;
  }
}

interface BlobRow {
  readonly deflated: number;
  readonly size: number;
  readonly bytes: Uint8Array;
}
