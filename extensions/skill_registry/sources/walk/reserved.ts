import type { Problem } from 'skill-registry/kernel';
import { isReserved } from '../../../../lib/files/index.ts';

/** What is wrong with a source in a folder that the registry keeps for itself; undefined anywhere else. @param real - Its real path. */
export function reservedSource(location: string, real: string): Problem | undefined {
  if (!isReserved(real)) return undefined;
  const message =
    'This source lies in data/ of the root, or where a link of that leads, which the registry keeps for itself, so it was not read. Move the skills out of there.';
  return { code: 'SOURCE_RESERVED', severity: 'error', file: location, message };
}
