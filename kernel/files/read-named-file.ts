import { realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { readContained } from './read-contained.ts';

/**
 * Reads a file whose path somebody gave, wherever its links lead: a regular one, no more than `maxBytes`, and without waiting
 * for a FIFO or an endless device.
 *
 * @throws as `readContained`, and what `realpath` throws where nothing is.
 */
export function readNamedFile(file: string, maxBytes: number): Buffer {
  const real = realpathSync(file);
  return readContained(dirname(real), basename(real), maxBytes);
}
