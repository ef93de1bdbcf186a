import { existsSync, lstatSync, realpathSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import {
  isInside,
  isOtherRoot,
  isTemporaryName,
  pathTraversal,
  realPathOf,
  writeFailed,
} from '../../lib/files/index.ts';
import { builtExtensions, isExtensionName, packageRoot } from '../boot/extension-folders.ts';
import { extensionProtected } from '../errors.ts';
import { foldersAbove } from './code-folders.ts';
import { heldFolder } from './half-approved.ts';

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

// --- internal ---

function isOfOtherRoot(extensions: string, own: string): boolean {
  const above = [extensions, ...foldersAbove(extensions)].filter((folder) => !isInside(own, folder));
  return above.some((folder) => folder !== own && (heldFolder(folder) !== undefined || isOtherRoot(folder)));
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
