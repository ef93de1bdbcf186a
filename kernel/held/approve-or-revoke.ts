import { existsSync, rmSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describeError } from '../../lib/errors/index.ts';
import {
  commitMove,
  moveFolder,
  removeContained,
  renameContained,
  undoMove,
  writeContained,
  writeFailed,
} from '../../lib/files/index.ts';
import { type NewDecision, openTrust } from '../../lib/trust/index.ts';
import { extensionChanged, extensionNotHeld } from '../errors.ts';
import {
  type HeldFile,
  heldExtension,
  heldExtensions,
  hexDigestOf,
  readHeldRecord,
  readIfThere,
  removeHeldFile,
  writeHeldRecord,
} from './held-extensions.ts';
import {
  assertAgentMayWrite,
  extensionsFolder,
  HELD,
  heldFolder,
  isExtensionName,
  makeFolder,
  makeHeldFolder,
} from './writable-extension.ts';

/**
 * Moves all waiting files of an extension to `extensions/`, or none when it throws. An approval that a crash has interrupted is
 * undone first.
 *
 * @param digest - Digest of the difference that the person has seen.
 * @throws EXTENSION_NOT_HELD; EXTENSION_CHANGED when the difference has changed since; EXTENSION_PROTECTED, WRITE_FAILED.
 */
export function approveExtension(rootDir: string, name: string, digest: string): void {
  undoApproval(rootDir, name);
  const held = heldExtension(rootDir, name);
  if (!held) throw extensionNotHeld(name, heldExtensions(rootDir));
  assertAgentMayWrite(rootDir, name);
  if (digest !== held.digest) throw extensionChanged(name, 'this is not the difference that was shown');
  const edited = held.files.find((file) => file.changedSince);
  if (edited) {
    const file = `extensions/${name}/${edited.path}`;
    const advice = `To keep that change, write into the file what you want of both, then: skill-registry extensions revoke ${name}. To drop it, make the file what it was, or remove it if it was not there, then look again: skill-registry extensions show ${name}.`;
    throw extensionChanged(name, `${file} was changed after the agent wrote its text`, advice);
  }
  const activeFolder = makeFolder(join(rootDir, 'extensions'));
  const waiting = makeHeldFolder(rootDir);
  try {
    writeContained(waiting, markerPath(name), JSON.stringify(held.files.map(replacementOf)), { own: true });
    for (const { path, after } of held.files) {
      // An earlier approval may have left this file because it could not remove it.
      deleteKept(activeFolder, name, path);
      writeContained(activeFolder, `${name}/${path}`, after, { keep: posix.basename(keptPath(path)) });
    }
    // From here on the approval is in effect.
    removeContained(waiting, markerPath(name), { own: true });
  } catch (error) {
    undoApproval(rootDir, name, held.files, error);
    const reason = `${(error as Error).message} Nothing of it is in effect, and it still waits`;
    throw writeFailed(`extensions/${name}`, reason, error);
  }
  try {
    for (const file of held.files) deleteApproved(rootDir, name, file);
  } catch {
    // The approval is in effect. Files that cannot be removed equal the approved ones.
  }
}

/**
 * Deletes what waits. When nothing waits, moves the extension out of `extensions/`.
 *
 * @returns The folder that the extension was moved to; undefined when waiting files were deleted.
 * @throws EXTENSION_NOT_HELD when nothing waits and no such extension exists; EXTENSION_PROTECTED, WRITE_FAILED.
 */
export function revokeExtension(rootDir: string, name: string): string | undefined {
  undoApproval(rootDir, name);
  if (deleteHeld(rootDir, name)) return undefined;
  const base = extensionsFolder(rootDir);
  if (base === undefined || !isExtensionName(name) || !existsSync(join(base, name)))
    throw extensionNotHeld(name, heldExtensions(rootDir));
  assertAgentMayWrite(rootDir, name);
  const path = `.revoked/${name}-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  const move = {
    from: { base, path: name },
    to: { base: makeHeldFolder(rootDir), path, own: true },
    temporary: `.revoking-${name}`,
  };
  try {
    moveFolder(move);
  } catch (error) {
    undoMove(move);
    throw error;
  }
  commitMove(move);
  return join(rootDir, 'data', HELD, path);
}

/**
 * Records who approved or revoked an extension, among the decisions of this user.
 *
 * @param decision.digest - Of the difference that was shown; null when an extension was revoked that did not wait.
 * @throws TRUST_UNUSABLE. What was approved stays approved.
 */
export function recordExtensionDecision(
  rootDir: string,
  name: string,
  decision: Pick<NewDecision, 'action' | 'by' | 'reason'> & { readonly digest: string | null },
): void {
  openTrust().decide({ kind: 'extension', path: join(rootDir, 'extensions', name), ...decision });
}

// --- internal ---

/** @returns Whether anything waited. When some of it cannot be read, such as a file that is too large, the whole folder is deleted. */
function deleteHeld(rootDir: string, name: string): boolean {
  try {
    const held = heldExtension(rootDir, name);
    for (const { path } of held?.files ?? []) removeHeldFile(rootDir, name, path);
    return held !== undefined;
  } catch (error) {
    const base = heldFolder(rootDir);
    if (base === undefined || !isExtensionName(name)) throw error;
    rmSync(join(base, name), { recursive: true, force: true });
    return true;
  }
}

/** Digests of one file before and after an approval; null: no file. */
interface Replacement {
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
}

/** A file that exists while an approval runs. */
function markerPath(name: string): string {
  return `${name}/approving`;
}

function replacementOf({ path, before, after }: HeldFile): Replacement {
  return { path, before: before && hexDigestOf(before), after: hexDigestOf(after) };
}

/** Where a replaced file is kept until the approval is complete: in its folder, so that restoring it needs no free space. */
function keptPath(path: string): string {
  return posix.join(posix.dirname(path), `.approving-${hexDigestOf(Buffer.from(path)).slice(0, 16)}`);
}

/**
 * Undoes an approval that failed or was interrupted. Does nothing when there is none.
 *
 * @param files - Hold the replaced bytes, because some file systems have no hard links. @param cause - Why the approval failed.
 * @throws WRITE_FAILED: part of it is in effect; a later call continues.
 */
function undoApproval(rootDir: string, name: string, files: readonly HeldFile[] = [], cause?: unknown): void {
  const [live, waiting] = [extensionsFolder(rootDir), heldFolder(rootDir)];
  const marker = isExtensionName(name) ? readIfThere(waiting, markerPath(name), true) : null;
  if (live === undefined || waiting === undefined || marker === null) return;
  try {
    for (const one of JSON.parse(marker.toString('utf8')) as readonly Replacement[]) {
      // The marker may have come with the root, and any file may stand in it: only files that wait are restored.
      if (readIfThere(waiting, `${name}/files/${one.path}`, true) === null) continue;
      const before = files.find(({ path }) => path === one.path)?.before;
      restoreFile(live, name, one, before ?? undefined);
      deleteKept(live, name, one.path);
    }
    removeContained(waiting, markerPath(name), { own: true });
  } catch (error) {
    const first = cause === undefined ? '' : `${describeError(cause)} `;
    const reason = `${first}The approval cannot be undone (${describeError(error)}), so part of it is in effect. Correct that, then revoke the extension`;
    throw writeFailed(`extensions/${name}`, reason, error);
  }
}

function restoreFile(
  live: string,
  name: string,
  { path, before, after }: Replacement,
  bytes: Buffer | undefined,
): void {
  const now = readIfThere(live, `${name}/${path}`, false);
  // It was not replaced, or somebody has changed it since.
  if (now === null || before === after || hexDigestOf(now) !== after) return;
  if (before === null) {
    removeContained(live, `${name}/${path}`);
    return;
  }
  const kept = readIfThere(live, `${name}/${keptPath(path)}`, false);
  if (kept && hexDigestOf(kept) !== before) throw extensionChanged(name, `${keptPath(path)} is not what was there`);
  if (bytes && !kept) writeContained(live, `${name}/${path}`, bytes);
  else renameContained(live, `${name}/${keptPath(path)}`, posix.basename(path));
}

function deleteApproved(rootDir: string, name: string, { path, after }: HeldFile): void {
  deleteKept(makeFolder(join(rootDir, 'extensions')), name, path);
  const waiting = makeHeldFolder(rootDir);
  if (readIfThere(waiting, `${name}/files/${path}`, true)?.equals(after)) removeHeldFile(rootDir, name, path);
  // The agent has written the file again meanwhile: the approved content is the base of that change.
  else
    writeHeldRecord(waiting, name, path, {
      by: 'unknown',
      ...readHeldRecord(waiting, name, path),
      base: hexDigestOf(after),
    });
}

function deleteKept(live: string, name: string, path: string): void {
  if (readIfThere(live, `${name}/${keptPath(path)}`, false)) removeContained(live, `${name}/${keptPath(path)}`);
}
