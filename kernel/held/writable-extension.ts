import { existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import { basename, join } from 'node:path';
import { withFallback } from '../../lib/errors/index.ts';
import {
  isInside,
  isOtherRoot,
  isTemporaryName,
  pathTraversal,
  realPathOf,
  writeFailed,
} from '../../lib/files/index.ts';
import { builtExtensions, packageRoot } from '../boot/extension-folders.ts';
import { extensionProtected } from '../errors.ts';
import { codeFolders, foldersAbove } from './code-folders.ts';

export function isExtensionName(name: string): boolean {
  return /^[a-z][a-z0-9_-]{0,63}$/.test(name);
}

export function isApprovalBackupName(name: string): boolean {
  return /^\.approving-/i.test(name);
}

/** Real path; undefined when it does not exist. */
export function extensionsFolder(rootDir: string): string | undefined {
  const folder = join(rootDir, 'extensions');
  return existsSync(folder) ? realpathSync(folder) : undefined;
}

/**
 * @param below - Segments of a file in the extension. Default: the whole extension.
 * @throws EXTENSION_PROTECTED; PATH_TRAVERSAL and WRITE_FAILED when an approval could not write the file.
 */
export function assertAgentMayWrite(rootDir: string, name: string, below: readonly string[] = []): void {
  const extensions = extensionsFolder(rootDir);
  if (extensions !== undefined && below.length > 0) assertCanBeFile(extensions, [name, ...below]);
  assertNotOfPackage(rootDir, name, below);
  // What waits, and whether it is half approved, is known in one root alone.
  if (extensions === undefined || !isOfOtherRoot(extensions, realPathOf(rootDir) ?? rootDir)) return;
  const advice = 'Change and approve it in the root that has the folder';
  throw extensionProtected(
    [name, ...below].join('/'),
    `extensions/ of this root is a link into another root. ${advice}`,
  );
}

/** @throws EXTENSION_PROTECTED. */
export function assertNotOfPackage(rootDir: string, name: string, below: readonly string[] = []): void {
  const why = whyProtected(extensionsFolder(rootDir), name, below);
  if (why) throw extensionProtected([name, ...below].join('/'), why);
}

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

function isOfOtherRoot(extensions: string, own: string): boolean {
  const above = [extensions, ...foldersAbove(extensions)].filter((folder) => !isInside(own, folder));
  return above.some((folder) => folder !== own && (heldFolder(folder) !== undefined || isOtherRoot(folder)));
}

function stampOf(root: string): string {
  const base = heldFolder(root) ?? '';
  const paths = namesInHeld(root).flatMap((name) => [markerPath(name), approvedPath(name)]);
  return paths.map((path) => `${base}/${path} ${changedAt(join(base, path))}`).join('\n');
}

/** Undefined when an agent may write there, if a person approves it. */
function whyProtected(extensions: string | undefined, name: string, below: readonly string[]): string | undefined {
  if (!isExtensionName(name))
    return `"${name}" is not a valid id of an extension (lowercase letters, digits, _ and -, first a letter, at most 64)`;
  const refused = [name, ...below].find((segment) => /^(node_modules|\.git)$/i.test(segment));
  if (refused) return `nothing is written into ${refused}`;
  if (isTemporaryName(below.at(-1) ?? '') || below.some(isApprovalBackupName))
    return 'this name is used for temporary files';
  if (extensions === undefined) return undefined;
  const ours = realpathSync(packageRoot());
  const isCheckout = extensions === join(ours, 'extensions');
  if (isInside(extensions, ours) && (!isCheckout || existsSync(join(builtExtensions(), name))))
    return 'it belongs to the package itself';
  const folder = join(extensions, name);
  const isManifest = below.length === 0 || below.join('/') === 'manifest.yaml';
  if (isManifest || !existsSync(folder) || existsSync(join(folder, 'manifest.yaml'))) return undefined;
  return 'the folder has no manifest.yaml, so it belongs to no extension; a person may write there';
}

/** Called before a person is asked. @throws PATH_TRAVERSAL, WRITE_FAILED. */
function assertCanBeFile(base: string, segments: readonly string[]): void {
  for (const [index, segment] of segments.entries()) {
    const stats = statsBelow(base, segments.slice(0, index + 1));
    if (stats === undefined) return;
    if (stats.isSymbolicLink()) throw pathTraversal();
    if (index < segments.length - 1 ? stats.isDirectory() : stats.isFile()) continue;
    throw writeFailed(segments.join('/'), `${segment} is not a ${index < segments.length - 1 ? 'folder' : 'file'}`);
  }
}

function statsBelow(base: string, segments: readonly string[]): Stats | undefined {
  try {
    return lstatSync(join(base, ...segments), { throwIfNoEntry: false });
  } catch (error) {
    throw writeFailed(segments.join('/'), String((error as NodeJS.ErrnoException).code), error);
  }
}
