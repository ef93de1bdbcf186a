import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { futureRealPath, type Reservation, reserve } from '../../../lib/files/index.ts';
import { userCacheDirectory, userStateDirectory } from '../../../lib/trust/index.ts';

/** Reserves `data/` of a root, and the user's state and cache directories: no file tool, source, list, revision, resource or proposal can reach them. */
export interface OwnData extends Pick<Reservation, 'release'> {
  /** Resolves the paths again, because a folder can be created or become a link at any time. */
  renew(): void;
}

export function reserveOwnData(root: string): OwnData {
  const reservation = reserve(root, 'skill_registry');
  const renew = (): void => reservation.keep(reservedPaths(root));
  renew();
  return { renew, release: reservation.release };
}

// --- internal ---

/** Paths and real paths of `data/`, of the registry's folder in it, and of the targets of links in that folder. */
function reservedPaths(root: string): readonly string[] {
  const data = join(futureRealPath(root), 'data');
  const folder = futureRealPath(join(futureRealPath(data), 'skill_registry'));
  const linked = linksIn(folder).flatMap((link) => {
    const target = futureRealPath(link);
    return ['', '-wal', '-shm', '-journal'].map((end) => target + end);
  });
  // Approvals of this user, and caches of other roots. They can be inside the root, which may be the home directory.
  const ofUser = [userStateDirectory(), userCacheDirectory()].flatMap((path) => [path, futureRealPath(path)]);
  return [...new Set([join(root, 'data'), data, futureRealPath(data), folder, ...linked, ...ofUser])];
}

function linksIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(folder, name));
  } catch {
    return [];
  }
}
