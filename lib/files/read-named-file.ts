import { realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { OpenOptions } from './open-contained.ts';
import { readFile } from './read-contained.ts';

/**
 * Reads a file whose path somebody gave, wherever its links lead: a regular one, no more than `maxBytes`, and without waiting
 * for a FIFO or an endless device. It may be called as it likes, `.env` too; what is reserved it is not (`reserve`).
 *
 * @param options.own - It is the caller's own, see `OpenOptions`. Default: false.
 * @throws as `readContained`, and what `realpath` throws where nothing is.
 */
export function readNamedFile(file: string, maxBytes: number, { own = false }: Pick<OpenOptions, 'own'> = {}): Buffer {
  const real = realpathSync(file);
  return readFile(dirname(real), [basename(real)], basename(real), maxBytes, own);
}
