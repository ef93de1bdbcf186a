import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import type { SourceConfig } from '../config/config.ts';

/** Equal for processes with the same root and sources on one machine. A hash, so it does not reveal the root. */
export function instanceOf(root: string, sources: readonly SourceConfig[]): string {
  const stats = statSync(root, { throwIfNoEntry: false });
  const folder = stats ? [stats.dev, stats.ino, stats.birthtimeMs] : [root];
  const parts = JSON.stringify([hostname(), ...folder, sources]);
  return createHash('sha256').update(parts).digest('hex').slice(0, 32);
}
