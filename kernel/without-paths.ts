import { homedir } from 'node:os';
import { realPathOf, reservedRoots } from '../lib/files/index.ts';
import { packageRoot } from './boot/extension-folders.ts';
import { describeError, isCodedError } from './errors.ts';

/**
 * For a model or another machine. Paths below a root become relative, the home directory `~`; of other absolute paths
 * only the last segment stays, except in a CodedError.
 */
export function withoutPaths(error: unknown): string {
  const known = withoutKnownPaths(isCodedError(error) ? error.message : describeError(error));
  return isCodedError(error) ? known : known.replace(QUOTED, shorten).replace(BARE, shorten);
}

/** Replaces only paths below a root, the package or the home directory. */
export function withoutKnownPaths(text: string): string {
  const roots = reservedRoots().flatMap((root) => [root, realPathOf(root) ?? root]);
  const folders: readonly (readonly [folder: string, shown: string])[] = [
    ...roots.map((root) => [root, ''] as const),
    [packageRoot(), '…/'],
    [homedir(), '~/'],
  ];
  return folders.reduce((left, [folder, shown]) => withoutFolder(left, folder, shown), text);
}

// --- internal ---

/** At least two segments, also in a file URL; not in other URLs. */
const BARE = /(?:file:\/\/|(?<![\w.~…/\\:-]))(?:[A-Za-z]:)?(?:[/\\][^\s/\\'"`<>()[\]{},;:]+){2,}[/\\]?/g;
const QUOTED = /(?<=(['"`]))(?:file:\/\/)?(?:[A-Za-z]:)?[/\\][^'"`\n]+(?=\1)/g;

function shorten(path: string): string {
  const segments = path.split(/[/\\]+/).filter((segment) => segment !== '');
  return segments.length < 2 ? path : `…/${segments.at(-1)}`;
}

function withoutFolder(text: string, folder: string, shown: string): string {
  if (folder.length < 2 || !text.includes(folder)) return text;
  const pattern = new RegExp(`(?:file://)?${folder.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}([/\\\\]|(?![\\w.-]))`, 'g');
  return text.replace(pattern, (_, after: string) => (after === '' ? shown.replace(/\/$/, '') || '.' : shown));
}
