import { readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { describeError, unlessCoded } from '../../lib/errors/index.ts';
import { removeContained, renameContained, writeContained, writeFailed } from '../../lib/files/index.ts';
import type { Root } from '../boot/extension-folders.ts';
import { heldOfRoot, heldWithProblems, unapprovedRootProblem } from '../boot/untrusted-root.ts';
import type { Problem } from '../contract.ts';
import { extensionChanged, extensionHalfApproved } from '../errors.ts';
import { HELD, heldFolder, isHalfApproved, makeFolder, makeHeldFolder, markerPath } from './half-approved.ts';
import {
  type HeldFile,
  heldFiles,
  hexDigestOf,
  type Replacement,
  readHeldRecord,
  readIfThere,
  removeHeldFile,
  writeHeldRecord,
} from './held-extensions.ts';
import { underHeldLock } from './held-lock.ts';
import { assertNotOfPackage } from './writable-extension.ts';

/**
 * Undoes interrupted approvals of an approved root. None is completed: its marker may have come with the root.
 * @returns Failures, by extension name: nothing of these may be loaded.
 */
export function undoApprovals(rootDir: string): ReadonlyMap<string, string> {
  const base = heldFolder(rootDir);
  const failed = new Map<string, string>();
  for (const name of base === undefined ? [] : readdirSync(base)) {
    try {
      undoIfInterrupted({ dir: rootDir, trusted: true }, name);
    } catch (error) {
      failed.set(name, describeError(error));
    }
  }
  return failed;
}

/** In an approved root, undoes interrupted approvals first. */
export function rootProblemsAtStart(root: Root): readonly Problem[] {
  const { dir, trusted } = root;
  const unapproved = trusted ? undefined : unapprovedRootProblem(dir, heldOfRoot(dir));
  const { problems } = heldWithProblems(root, trusted ? undoApprovals(dir) : undefined);
  return unapproved ? [unapproved, ...problems] : problems;
}

/** As `undoApprovals`, for one extension. @throws as `settleApproval`. */
export function undoIfInterrupted(root: Root, name: string): void {
  if (isHalfApproved(root.dir, name) || approvedFiles(root.dir, name).length > 0)
    underHeldLock(root.dir, () => settleApproval(root, name));
}

/** The caller holds the lock. @throws EXTENSION_HALF_APPROVED in a root that is not approved; WRITE_FAILED. */
export function settleApproval({ dir, trusted }: Root, name: string): void {
  if (isHalfApproved(dir, name)) {
    if (!trusted) throw extensionHalfApproved(name);
    undoApproval(dir, name);
  }
  for (const file of approvedFiles(dir, name)) deleteApproved(dir, name, file);
}

/**
 * The caller holds the lock.
 * @param files - Hold the replaced bytes, because some file systems have no hard links. @param cause - Why it failed.
 * @throws WRITE_FAILED: part of it is in effect; a later call continues.
 */
export function undoApproval(rootDir: string, name: string, files: readonly HeldFile[] = [], cause?: unknown): void {
  const [live, waiting] = [makeFolder(posix.join(rootDir, 'extensions')), makeHeldFolder(rootDir)];
  try {
    const marker = readIfThere(waiting, markerPath(name), true);
    if (marker === null) return;
    assertNotOfPackage(rootDir, name);
    for (const one of JSON.parse(marker.toString('utf8')) as readonly Replacement[]) {
      const before = files.find(({ path }) => path === one.path)?.before;
      restoreFile(live, waiting, name, one, before ?? undefined);
      deleteKept(live, name, one.path);
    }
    removeContained(waiting, markerPath(name), { own: true });
  } catch (error) {
    const first = cause === undefined ? '' : `${describeError(cause)} `;
    const undone = `The approval cannot be undone (${describeError(error)})`;
    const why = `${undone}, so part of it is in its files, and nothing of it is loaded.`;
    const marker = `data/${HELD}/${markerPath(name)}`;
    const advice = `Correct that, or write into its files what you want and remove ${marker};`;
    throw writeFailed(`extensions/${name}`, `${first}${why} ${advice} then approve or revoke it`, error);
  }
}

export function deleteApproved(rootDir: string, name: string, { path, after }: Pick<HeldFile, 'path' | 'after'>): void {
  deleteKept(makeFolder(posix.join(rootDir, 'extensions')), name, path);
  const waiting = makeHeldFolder(rootDir);
  if (readIfThere(waiting, `${name}/files/${path}`, true)?.equals(after)) removeHeldFile(rootDir, name, path);
  // The agent has written the file again: the approved content is now the base of its change.
  else
    writeHeldRecord(waiting, name, path, {
      by: 'unknown',
      ...readHeldRecord(waiting, name, path),
      base: hexDigestOf(after),
    });
}

/** Keeps a replaced file until the approval is complete: in the same folder, so that restoring needs no free space. */
export function keptPath(path: string): string {
  return posix.join(posix.dirname(path), `.approving-${hexDigestOf(Buffer.from(path)).slice(0, 16)}`);
}

export function deleteKept(live: string, name: string, path: string): void {
  if (readIfThere(live, `${name}/${keptPath(path)}`, false)) removeContained(live, `${name}/${keptPath(path)}`);
}

// --- internal ---

/** Held files that are in effect. None when they cannot be read, which is reported elsewhere. */
function approvedFiles(rootDir: string, name: string): readonly HeldFile[] {
  return unlessCoded(() => heldFiles(rootDir, name).filter(({ before, after }) => before?.equals(after)), []);
}

/** Leaves a file that has changed since. @throws EXTENSION_CHANGED: it is unclear which of two texts is meant. */
function restoreFile(
  live: string,
  waiting: string,
  name: string,
  { path, before, after }: Replacement,
  bytes: Buffer | undefined,
): void {
  const [file, kept] = [`${name}/${path}`, `${name}/${keptPath(path)}`];
  const now = readIfThere(live, file, false);
  const digest = now && hexDigestOf(now);
  if (digest === before || before === after) return;
  const old = readIfThere(live, kept, false);
  const advice = old
    ? `Move extensions/${kept} over extensions/${file} to have the text from before, or write into it what you want ` +
      `and remove extensions/${kept}.`
    : `Remove extensions/${file}, or write into it what you want.`;
  if (old && hexDigestOf(old) !== (digest === after ? before : digest))
    throw extensionChanged(name, `extensions/${file} was changed while it was approved`, advice);
  if (now === null || hexDigestOf(now) !== after) return;
  // The marker may have come with the root and name any file: only held files are restored.
  if (readIfThere(waiting, `${name}/files/${path}`, true) === null)
    throw extensionChanged(name, `the text of extensions/${file} does not wait any more`, advice);
  if (before === null) removeContained(live, file);
  else if (bytes && !old) writeContained(live, file, bytes);
  else renameContained(live, kept, posix.basename(path));
}
