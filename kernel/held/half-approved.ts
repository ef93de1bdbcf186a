import { lstatSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { withFallback } from '../../lib/errors/index.ts';
import { isInside, realPathOf, writeFailed } from '../../lib/files/index.ts';
import { isExtensionName } from '../boot/extension-folders.ts';
import { codeFolders, foldersAbove } from './code-folders.ts';

/** Below `data/`. No extension can have such an id. */
export const HELD = '.held';

/** Real path of `data/.held/`; undefined when it does not exist or is a link. */
export function heldFolder(rootDir: string): string | undefined {
  const folder = join(realPathOf(join(rootDir, 'data')) ?? '', HELD);
  return realPathOf(folder) === folder ? folder : undefined;
}

/** @throws WRITE_FAILED. */
export function makeHeldFolder(rootDir: string): string {
  makeFolder(join(rootDir, 'data', HELD));
  const folder = heldFolder(rootDir);
  if (folder === undefined) throw writeFailed(`data/${HELD}`, 'it is a link. Remove the link');
  return folder;
}

/** Exists while an approval runs. If it remains, files may be of two versions. Its content may come with the root. */
export function markerPath(name: string): string {
  return `${name}/approving`;
}

export function approvedPath(name: string): string {
  return `${name}/approved`;
}

/** Also while one runs in another process. */
export function isHalfApproved(rootDir: string, name: string): boolean {
  const base = heldFolder(rootDir);
  if (base === undefined || !isExtensionName(name)) return false;
  return changedAt(join(base, markerPath(name))) !== undefined;
}

export interface HalfApproved {
  /** This root, or another one where its links lead. */
  readonly root: string;
  readonly name: string;
}

/** Also of the other roots of `rootsOfCode`. */
export function halfApproved(rootDir: string): readonly HalfApproved[] {
  return rootsOfCode(rootDir).flatMap((root) =>
    namesInHeld(root).flatMap((name) => (isHalfApproved(root, name) ? [{ root, name }] : [])),
  );
}

/** Changes whenever an approval of code that this root can load begins, ends or is undone. */
export function approvalsStamp(rootDir: string): string {
  return rootsOfCode(rootDir).map(stampOf).join('\n');
}

/**
 * This root, and each root into which a link leads: in its `extensions/` and `node_modules/`, in `node_modules/` of the
 * folders above, and in the targets of such links. A path out of the root that code imports is not known before.
 */
export function rootsOfCode(rootDir: string): readonly string[] {
  const own = realPathOf(rootDir) ?? rootDir;
  // Node looks for packages there, too.
  const packagesAbove = foldersAbove(own).map((folder) => join(folder, 'node_modules'));
  const folders = new Set(
    [...codeFolders(own, packagesAbove)].flatMap((folder) => {
      const above = [folder, ...foldersAbove(folder)];
      // Code that lies in this root is not that of a root above.
      return isInside(folder, own) ? above.filter((one) => !isInside(own, one)) : above;
    }),
  );
  return [rootDir, ...[...folders].filter((folder) => heldFolder(folder) !== undefined)];
}

/** @returns its real path. @throws WRITE_FAILED. */
export function makeFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return realpathSync(path);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code;
    throw writeFailed(basename(path), `it is not a folder and cannot be made (${reason})`, error);
  }
}

// --- internal ---

function namesInHeld(rootDir: string): readonly string[] {
  const base = heldFolder(rootDir);
  return withFallback(() => (base === undefined ? [] : readdirSync(base).filter(isExtensionName)), []);
}

function changedAt(path: string): string | undefined {
  try {
    const { ino, ctimeNs } = lstatSync(path, { bigint: true });
    return `${ino} ${ctimeNs}`;
  } catch {
    return undefined;
  }
}

function stampOf(root: string): string {
  const base = heldFolder(root) ?? '';
  const paths = namesInHeld(root).flatMap((name) => [markerPath(name), approvedPath(name)]);
  return paths.map((path) => `${base}/${path} ${changedAt(join(base, path))}`).join('\n');
}
