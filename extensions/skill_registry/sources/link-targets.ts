import { existsSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { futureRealPath, isInside, realPathOf } from '../../../lib/files/index.ts';
import type { OnlyWithin, SkillSource } from './source.ts';

export interface LinkTargetOptions {
  /** Those of the registry. */
  readonly sources: readonly SkillSource[];
  /** Folders in which the user keeps skills of agents; absolute. */
  readonly ownFolders: readonly string[];
  /** As of a directory source: then other sources below that folder are all there is. */
  readonly onlyWithin: OnlyWithin | undefined;
}

/**
 * Where links of a source may lead beside its own folder: to another source, below the git work tree that the source lies in, and
 * to the user's own folders. Never to a folder that holds the source itself, which would make a source of everything in it.
 *
 * @param realRoot - Of the source.
 * @returns takes a real path. The disk is asked once, for the first path.
 */
export function linkTargets(realRoot: string, options: LinkTargetOptions): (target: string) => boolean {
  let places: readonly string[] | undefined;
  return (target) => {
    places ??= placesOf(realRoot, options);
    return !isInside(realRoot, target) && places.some((place) => isInside(target, place));
  };
}

/** The nearest folder upwards that holds `.git`. */
export function workTreeOf(folder: string): string | undefined {
  for (let dir = folder; ; dir = dirname(dir)) {
    if (existsSync(`${dir}/.git`)) return dir;
    if (dir === dirname(dir)) return undefined;
  }
}

// --- internal ---

/** Those of a package are not the owner's, and a pack is a file. */
const FOLLOWED_INTO: ReadonlySet<string> = new Set(['directory', 'file']);

function placesOf(realRoot: string, { sources, ownFolders, onlyWithin }: LinkTargetOptions): readonly string[] {
  const named = sources
    .filter(({ kind, location }) => FOLLOWED_INTO.has(kind) && isAbsolute(location))
    .flatMap(({ location }) => realPathOf(location) ?? []);
  if (onlyWithin) {
    const folder = futureRealPath(onlyWithin.folder);
    return named.filter((place) => isInside(place, folder));
  }
  return [
    ...named,
    ...ownFolders.flatMap((folder) => realPathOf(folder) ?? []),
    ...[workTreeOf(realRoot) ?? []].flat(),
  ];
}
