import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { reservedRoots } from '../lib/files/index.ts';
import { packageRoot } from './boot/extension-folders.ts';
import { describeError, isCodedError } from './errors.ts';

/**
 * The message of an error for a model or another machine: it says nothing of where things lie on this one. What is below a root
 * is told relative to it, and below the home directory from `~`. A message that nobody wrote for reading, as those of the file
 * system, keeps of other absolute paths the last segment only.
 */
export function withoutPaths(error: unknown): string {
  const known = withoutKnownPaths(isCodedError(error) ? error.message : describeError(error));
  return isCodedError(error) ? known : known.replace(QUOTED, shorten).replace(BARE, shorten);
}

/** As `withoutPaths`, of a text. */
export function withoutKnownPaths(text: string): string {
  const roots = reservedRoots().flatMap((root) => [root, realOf(root)]);
  const places: readonly (readonly [folder: string, shown: string])[] = [
    ...roots.map((root) => [root, ''] as const),
    [packageRoot(), '…/'],
    [homedir(), '~/'],
  ];
  return places.reduce((left, [folder, shown]) => withoutFolder(left, folder, shown), text);
}

// --- internal ---

/** The rest of a path of at least two segments, also in an address of a file; not the path of any other address. */
const BARE = /(?:file:\/\/|(?<![\w.~…/\\:-]))(?:[A-Za-z]:)?(?:[/\\][^\s/\\'"`<>()[\]{},;:]+){2,}[/\\]?/g;
const QUOTED = /(?<=(['"`]))(?:file:\/\/)?(?:[A-Za-z]:)?[/\\][^'"`\n]+(?=\1)/g;

function shorten(path: string): string {
  const segments = path.split(/[/\\]+/).filter((segment) => segment !== '');
  return segments.length < 2 ? path : `…/${segments.at(-1)}`;
}

function withoutFolder(text: string, folder: string, shown: string): string {
  if (folder.length < 2 || !text.includes(folder)) return text;
  const place = new RegExp(`(?:file://)?${folder.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}([/\\\\]|(?![\\w.-]))`, 'g');
  return text.replace(place, (_, after: string) => (after === '' ? shown.replace(/\/$/, '') || '.' : shown));
}

function realOf(root: string): string {
  try {
    return realpathSync(root);
  } catch {
    return root;
  }
}
