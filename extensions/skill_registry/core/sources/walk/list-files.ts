import { relative, sep } from 'node:path';
import type { Steps } from '../../../../../lib/breaks/index.ts';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { isPrivatePath, isTemporaryName, listContained } from '../../../../../lib/files/index.ts';
import type { ResourceInfo, SkillListing } from '../../skill/skill.ts';

export const MAX_LISTED_FILES = 512;
/** Paths of more than 64 segments cannot be read (`relativeSegments`), so they are not listed. */
const MAX_DEPTH = 63;

export interface FolderListing extends Required<SkillListing> {
  readonly folders: number;
}

type Listed = { readonly most?: number; readonly everything?: boolean; readonly own?: boolean };

/**
 * Does not follow links. Each step reads one folder.
 * @param most - Maximum number of files, and of folders. One more file is listed, to show that there are more.
 * @param everything - `node_modules`, too, and no sizes.
 */
export function* filesBelow(
  dir: string,
  { most = MAX_LISTED_FILES, everything = false, own = false }: Listed = {},
): Steps<FolderListing> {
  const files: ResourceInfo[] = [];
  const links: string[] = [];
  let leftOut = 0;
  let folders = 0;
  function* visit(below: string, depth: number): Steps<void> {
    yield;
    folders += 1;
    for (const { name, kind, size } of entriesOf(dir, below, !everything, own)) {
      if (files.length > most || folders >= most) return;
      const path = below ? `${below}/${name}` : name;
      if (kind === 'directory') {
        if (depth < MAX_DEPTH && (everything || name !== 'node_modules')) yield* visit(path, depth + 1);
      } else if (kind === 'file') {
        if (!isTemporaryName(name)) files.push({ path, size });
      } else if (kind === 'private') leftOut += isDependency(path) ? 0 : 1;
      else links.push(path);
    }
  }
  yield* visit('', 0);
  return { files, leftOut, links, folders };
}

/** Reduces a full listing to what `filesBelow` lists by default; undefined where it exceeds the default limits. */
export function shownOf({ files, leftOut, links, folders }: FolderListing): SkillListing | undefined {
  if (files.length > MAX_LISTED_FILES || folders >= MAX_LISTED_FILES) return undefined;
  const isShown = (path: string): boolean => !isDependency(path);
  return { files: files.filter(({ path }) => isShown(path)), leftOut, links: links.filter(isShown) };
}

export function withoutPrivate(files: readonly ResourceInfo[]): SkillListing {
  const shown = files.filter(({ path }) => !isPrivatePath(path));
  return { files: shown, leftOut: files.length - shown.length };
}

/** Relative to the folder, with `/` between segments; `.` for the folder itself. */
export function pathBelow(folder: string, path: string): string {
  // The usual case, ten times faster.
  if (sep === '/' && path.startsWith(`${folder}/`) && !path.includes('//') && !path.includes('/.')) {
    return path.slice(folder.length + 1);
  }
  return relative(folder, path).split(sep).join('/') || '.';
}

// --- internal ---

function isDependency(path: string): boolean {
  return path.startsWith('node_modules/') || path.includes('/node_modules/');
}

/** Nothing for a folder that is missing, unreadable or too deep, so the others are still listed. */
function entriesOf(dir: string, below: string, sizes: boolean, own: boolean): ReturnType<typeof listContained> {
  return withFallback(() => listContained(dir, below, { sizes, own }), []);
}
