import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { futureRealPath, type Reservation, reserve } from '../../../lib/files/index.ts';
import { userCacheDirectory, userStateDirectory } from '../../../lib/trust/index.ts';

/** `data/` of a root, and the user's own state and cache directories, kept out of the reach of every file tool, source, list, revision, resource and proposal. */
export interface OwnData extends Pick<Reservation, 'release'> {
  /** Looks where it is now: it may be made, or become a link, at any time. */
  renew(): void;
}

/** @param root - Absolute. */
export function keepOwnData(root: string): OwnData {
  const reservation = reserve(root, 'skill_registry');
  const renew = (): void => reservation.keep(placesOf(root));
  renew();
  return { renew, release: reservation.release };
}

// --- internal ---

/** As it is written, and where links lead: of `data/`, of the registry's folder in it, and of what lies in that. */
function placesOf(root: string): readonly string[] {
  const data = join(futureRealPath(root), 'data');
  const folder = futureRealPath(join(futureRealPath(data), 'skill_registry'));
  const linked = linksIn(folder).flatMap((link) => {
    const target = futureRealPath(link);
    // SQLite puts its other files beside the database itself.
    return ['', '-wal', '-shm', '-journal'].map((end) => target + end);
  });
  // What this user has approved, and caches of other roots: wherever they lie, the root may be the home directory.
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
