import { createHash } from 'node:crypto';
import type { IncomingFile } from './offer.ts';

/** What `skills-lock.json` says of the files of one skill. */
export interface LockedFiles {
  /** `sha256:<64 hex>` over `files`, each with a line feed. */
  readonly digest: string;
  /** `sha256:<64 hex> <bytes> <644 or 755> <path>`, sorted by path. */
  readonly files: readonly string[];
}

export function lockedFiles(files: readonly IncomingFile[]): LockedFiles {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const lines = sorted.map(
    ({ path, bytes, executable }) => `${sha256(bytes)} ${bytes.length} ${executable ? 755 : 644} ${path}`,
  );
  return { digest: sha256(lines.map((line) => `${line}\n`).join('')), files: lines };
}

/**
 * The hash that other tools keep in the lock: sha256 over path and bytes of all files, without anything between them, in the
 * order of `localeCompare`. Two different folders can have the same one, so it is only compared where nothing better is known.
 */
export function computedHash(files: readonly Pick<IncomingFile, 'path' | 'bytes'>[]): string {
  const hash = createHash('sha256');
  for (const { path, bytes } of [...files].sort((a, b) => a.path.localeCompare(b.path)))
    hash.update(path).update(bytes);
  return hash.digest('hex');
}

// --- internal ---

function sha256(content: string | Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
