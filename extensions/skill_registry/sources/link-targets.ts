import { existsSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { futureRealPath, isInside, realPathOf } from '../../../lib/files/index.ts';
import type { OnlyWithin, SkillSource } from './source.ts';

export interface LinkTargetOptions {
  /** All sources of the registry. */
  readonly sources: readonly SkillSource[];
  /** The user's own folders for skills of agents; absolute. */
  readonly ownFolders: readonly string[];
  /** As of a directory source. When set, links may lead only to other sources below that folder. */
  readonly onlyWithin: OnlyWithin | undefined;
}

/**
 * Which links may lead outside their source: those to another source, into the git work tree of the source, and to the user's own
 * folders. Never a link to a folder that contains the source, which would include everything in that folder.
 *
 * @param realRoot - Real path of the source.
 * @returns a function that takes a real path. The file system is read once, at the first call.
 */
export function linkTargets(realRoot: string, options: LinkTargetOptions): (target: string) => boolean {
  let allowed: readonly string[] | undefined;
  return (target) => {
    allowed ??= allowedFolders(realRoot, options);
    return !isInside(realRoot, target) && allowed.some((folder) => isInside(target, folder));
  };
}

/** The nearest parent folder, or the folder itself, that contains `.git`. */
export function workTreeOf(folder: string): string | undefined {
  for (let dir = folder; ; dir = dirname(dir)) {
    if (existsSync(`${dir}/.git`)) return dir;
    if (dir === dirname(dir)) return undefined;
  }
}

// --- internal ---

/** Other kinds are excluded: the folders of a package do not belong to the owner, and a pack is a file. */
const FOLLOWED_INTO: ReadonlySet<string> = new Set(['directory', 'file']);

function allowedFolders(realRoot: string, { sources, ownFolders, onlyWithin }: LinkTargetOptions): readonly string[] {
  const named = sources
    .filter(({ kind, location }) => FOLLOWED_INTO.has(kind) && isAbsolute(location))
    .flatMap(({ location }) => realPathOf(location) ?? []);
  if (onlyWithin) {
    const limit = futureRealPath(onlyWithin.folder);
    return named.filter((folder) => isInside(folder, limit));
  }
  return [
    ...named,
    ...ownFolders.flatMap((folder) => realPathOf(folder) ?? []),
    ...[workTreeOf(realRoot) ?? []].flat(),
  ];
}
