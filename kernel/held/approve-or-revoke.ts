import { existsSync, rmSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describeError } from '../../lib/errors/index.ts';
import {
  moveFolder,
  removeContained,
  renameContained,
  settleMove,
  undoMove,
  writeContained,
  writeFailed,
} from '../../lib/files/index.ts';
import { extensionChanged, extensionNotHeld } from '../errors.ts';
import {
  digestOf,
  drop,
  type HeldFile,
  heldExtension,
  heldExtensions,
  readIfThere,
  readNote,
  writeNote,
} from './held-extensions.ts';
import {
  assertAgentMayWrite,
  extensionsFolder,
  folderFor,
  HELD,
  heldFolder,
  heldFolderFor,
  isExtensionName,
} from './writable-extension.ts';

/**
 * Puts what waits into `extensions/`: all of it, or nothing when it throws. What a process that died in the middle has left is
 * taken back first.
 *
 * @param digest - Of the difference that the person has seen.
 * @throws EXTENSION_NOT_HELD; EXTENSION_CHANGED when it is not that difference any more; EXTENSION_PROTECTED, WRITE_FAILED.
 */
export function approveExtension(rootDir: string, name: string, digest: string): void {
  takeBack(rootDir, name);
  const held = heldExtension(rootDir, name);
  if (!held) throw extensionNotHeld(name, heldExtensions(rootDir));
  assertAgentMayWrite(rootDir, name);
  if (digest !== held.digest) throw extensionChanged(name, 'this is not the difference that was shown');
  const edited = held.files.find((file) => file.changedSince);
  if (edited)
    throw extensionChanged(name, `extensions/${name}/${edited.path} was changed after the agent wrote its text`);
  const live = folderFor(join(rootDir, 'extensions'));
  const waiting = heldFolderFor(rootDir);
  try {
    writeContained(waiting, markOf(name), JSON.stringify(held.files.map(replacementOf)), { own: true });
    for (const { path, after } of held.files) {
      // What an earlier approval could not remove.
      removeKept(live, name, path);
      writeContained(live, `${name}/${path}`, after, { keep: posix.basename(keptOf(path)) });
    }
    // From here on it counts.
    removeContained(waiting, markOf(name), { own: true });
  } catch (error) {
    takeBack(rootDir, name, held.files, error);
    const reason = `${(error as Error).message} Nothing of it is in effect, and it goes on waiting`;
    throw writeFailed(`extensions/${name}`, reason, error);
  }
  try {
    for (const file of held.files) forget(rootDir, name, file);
  } catch {
    // It is in effect. What cannot be removed is no difference to it any more.
  }
}

/**
 * Throws away what waits. Where nothing waits, takes the extension out of `extensions/`.
 *
 * @returns where the extension lies now; undefined when what waited was thrown away.
 * @throws EXTENSION_NOT_HELD when there is neither; EXTENSION_PROTECTED, WRITE_FAILED.
 */
export function revokeExtension(rootDir: string, name: string): string | undefined {
  takeBack(rootDir, name);
  if (throwAway(rootDir, name)) return undefined;
  const base = extensionsFolder(rootDir);
  if (base === undefined || !isExtensionName(name) || !existsSync(join(base, name)))
    throw extensionNotHeld(name, heldExtensions(rootDir));
  assertAgentMayWrite(rootDir, name);
  const path = `.revoked/${name}-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  const move = {
    from: { base, path: name },
    to: { base: heldFolderFor(rootDir), path, own: true },
    temporary: `.revoking-${name}`,
  };
  try {
    moveFolder(move);
  } catch (error) {
    undoMove(move);
    throw error;
  }
  settleMove(move);
  return join(rootDir, 'data', HELD, path);
}

// --- internal ---

/** @returns whether anything waited. What cannot be read, such as a file that is too large, goes with all the rest. */
function throwAway(rootDir: string, name: string): boolean {
  try {
    const held = heldExtension(rootDir, name);
    for (const { path } of held?.files ?? []) drop(rootDir, name, path);
    return held !== undefined;
  } catch (error) {
    const base = heldFolder(rootDir);
    if (base === undefined || !isExtensionName(name)) throw error;
    rmSync(join(base, name), { recursive: true, force: true });
    return true;
  }
}

/** What an approval puts in the place of what: digests; null: nothing is there. */
interface Replacement {
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
}

/** The file that is there while an approval is under way. */
function markOf(name: string): string {
  return `${name}/approving`;
}

function replacementOf({ path, before, after }: HeldFile): Replacement {
  return { path, before: before && digestOf(before), after: digestOf(after) };
}

/** Where a file that is replaced stays until all are: beside it, so that to bring it back takes no room. */
function keptOf(path: string): string {
  return posix.join(posix.dirname(path), `.approving-${digestOf(Buffer.from(path)).slice(0, 16)}`);
}

/**
 * Takes back an approval that failed, or whose process died. Does nothing when none is under way.
 *
 * @param files - With the bytes that were there: not every file system has links. @param cause - Why the approval failed.
 * @throws WRITE_FAILED: part of it is in effect, and a later call goes on.
 */
function takeBack(rootDir: string, name: string, files: readonly HeldFile[] = [], cause?: unknown): void {
  const [live, waiting] = [extensionsFolder(rootDir), heldFolder(rootDir)];
  const mark = isExtensionName(name) ? readIfThere(waiting, markOf(name), true) : null;
  if (live === undefined || waiting === undefined || mark === null) return;
  try {
    for (const one of JSON.parse(mark.toString('utf8')) as readonly Replacement[]) {
      // A mark that came with the root may name anything. What an agent has written on since waits all the same.
      if (readIfThere(waiting, `${name}/files/${one.path}`, true) === null) continue;
      const before = files.find(({ path }) => path === one.path)?.before;
      putBack(live, name, one, before ?? undefined);
      removeKept(live, name, one.path);
    }
    removeContained(waiting, markOf(name), { own: true });
  } catch (error) {
    const first = cause === undefined ? '' : `${describeError(cause)} `;
    const reason = `${first}It cannot be taken back (${describeError(error)}), so part of it is in effect. Mend that, then revoke it`;
    throw writeFailed(`extensions/${name}`, reason, error);
  }
}

function putBack(live: string, name: string, { path, before, after }: Replacement, bytes: Buffer | undefined): void {
  const now = readIfThere(live, `${name}/${path}`, false);
  // Never replaced, or changed by somebody since.
  if (now === null || before === after || digestOf(now) !== after) return;
  if (before === null) {
    removeContained(live, `${name}/${path}`);
    return;
  }
  const kept = readIfThere(live, `${name}/${keptOf(path)}`, false);
  if (kept && digestOf(kept) !== before) throw extensionChanged(name, `${keptOf(path)} is not what was there`);
  if (bytes && !kept) writeContained(live, `${name}/${path}`, bytes);
  else renameContained(live, `${name}/${keptOf(path)}`, posix.basename(path));
}

function forget(rootDir: string, name: string, { path, after }: HeldFile): void {
  removeKept(folderFor(join(rootDir, 'extensions')), name, path);
  const waiting = heldFolderFor(rootDir);
  if (readIfThere(waiting, `${name}/files/${path}`, true)?.equals(after)) drop(rootDir, name, path);
  // The agent wrote on meanwhile: that goes on from what was approved.
  else writeNote(waiting, name, path, { by: 'unknown', ...readNote(waiting, name, path), base: digestOf(after) });
}

function removeKept(live: string, name: string, path: string): void {
  if (readIfThere(live, `${name}/${keptOf(path)}`, false)) removeContained(live, `${name}/${keptOf(path)}`);
}
