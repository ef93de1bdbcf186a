import { relative } from 'node:path';
import { futureRealPath, isInside, isReserved, type Problem, rootNotApproved } from 'skill-registry/kernel';

/** What is wrong with a source in a folder that the registry keeps for itself; undefined anywhere else. @param real - Its real path. */
export function reservedSource(location: string, real: string): Problem | undefined {
  if (!isReserved(real)) return undefined;
  const message =
    'This source lies in data/ of the root, or where a link of that leads, which the registry keeps for itself, so it was not read. Move the skills out of there.';
  return { code: 'SOURCE_RESERVED', severity: 'error', file: location, message };
}

/** What is read of a root that nobody has approved really lies in `folder`: the root, or one above it that a preset looks in. */
export interface OnlyWithin {
  readonly folder: string;
  readonly root: string;
}

/** ROOT_NOT_APPROVED for a source to which a link leads from there. */
export function linkedOut(location: string, real: string, only: OnlyWithin | undefined): Problem | undefined {
  if (!only || isInside(real, futureRealPath(only.folder))) return undefined;
  return rootNotApproved(only.root, [`${relative(only.root, location)} (a link that leads out of it)`]);
}
