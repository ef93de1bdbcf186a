import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import { futureRealPath, isInside, realPathOf } from '../../../../lib/files/index.ts';
import { homeFolders, workTreeOf } from './agent-folders.ts';
import type { OnlyWithin, SkillSource } from './source.ts';

/**
 * Allows other sources, the user's own folders, and the root or git work tree around the source. Never a folder that
 * contains the source: that would include everything in it. @param realRoot - Real path of the source.
 * @param onlyWithin - When set, links may lead only to folders and `.md` files below that folder.
 */
export function linkTargets(
  realRoot: string,
  root: string,
  sources: readonly SkillSource[],
  onlyWithin: OnlyWithin | undefined,
): (target: string) => boolean {
  let allowed: readonly string[] | undefined;
  return (target) => {
    allowed ??= onlyWithin ? [futureRealPath(onlyWithin.folder)] : allowedFolders(realRoot, root, sources);
    if (isInside(realRoot, target) || !allowed.some((folder) => isInside(target, folder))) return false;
    return !onlyWithin || isFolderOrMarkdown(target);
  };
}

// --- internal ---

/** Other kinds are excluded: a package's folders do not belong to the user, and a pack is a file. */
const FOLLOWED_INTO: ReadonlySet<string> = new Set(['directory', 'file']);

function allowedFolders(realRoot: string, root: string, sources: readonly SkillSource[]): readonly string[] {
  const named = sources.flatMap(({ kind, location }) =>
    FOLLOWED_INTO.has(kind) && isAbsolute(location) ? location : [],
  );
  const folders = [...named, ...homeFolders(homedir())].flatMap((folder) => realPathOf(folder) ?? []);
  const around = [realPathOf(root), workTreeOf(realRoot)].flatMap((folder) => folder ?? []);
  return [...folders, ...around.filter((folder) => isInside(realRoot, folder))];
}

/** Other files may be secrets of the user, which somebody's repository could link as a SKILL.md. */
function isFolderOrMarkdown(path: string): boolean {
  return /\.md$/i.test(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
