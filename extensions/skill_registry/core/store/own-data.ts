import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { withFallback } from '../../../../lib/errors/index.ts';
import { futureRealPath, type Reservation, reserve } from '../../../../lib/files/index.ts';
import { userCacheDirectory, userStateDirectory } from '../../../../lib/trust/index.ts';

/** No file tool, source, list, revision or proposal can reach `data/` or the user's state and cache directories. */
export interface OwnData extends Pick<Reservation, 'release'> {
  /** Resolves the paths again: a folder can be created or become a link at any time. */
  renew(): void;
}

export function reserveOwnData(root: string): OwnData {
  const reservation = reserve(root, 'skill_registry');
  const renew = (): void => reservation.keep(reservedPaths(root));
  renew();
  return { renew, release: reservation.release };
}

// --- internal ---

function reservedPaths(root: string): readonly string[] {
  const data = join(futureRealPath(root), 'data');
  const folder = futureRealPath(join(futureRealPath(data), 'skill_registry'));
  const linked = linksIn(folder).flatMap((link) => {
    const target = futureRealPath(link);
    return ['', '-wal', '-shm', '-journal'].map((end) => target + end);
  });
  // This user's approvals and other roots' caches. They can be inside the root, which may be the home directory.
  const ofUser = [userStateDirectory(), userCacheDirectory()].flatMap((path) => [path, futureRealPath(path)]);
  return [...new Set([join(root, 'data'), data, futureRealPath(data), folder, ...linked, ...ofUser])];
}

function linksIn(folder: string): readonly string[] {
  const entries = withFallback(() => readdirSync(folder, { withFileTypes: true }), []);
  return entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(folder, name));
}
