import { existsSync, rmSync } from 'node:fs';
import { join, posix } from 'node:path';
import {
  commitMove,
  moveFolder,
  renameContained,
  undoMove,
  writeContained,
  writeFailed,
} from '../../lib/files/index.ts';
import { type NewDecision, openTrust } from '../../lib/trust/index.ts';
import { isExtensionName, type Root } from '../boot/extension-folders.ts';
import { extensionChanged, extensionNotHeld } from '../errors.ts';
import { approvedPath, HELD, heldFolder, makeFolder, makeHeldFolder, markerPath } from './half-approved.ts';
import {
  allHeld,
  digestOfChange,
  type HeldExtension,
  heldExtension,
  hexDigestOf,
  type Replacement,
  readIfThere,
  removeHeldFile,
  replacementOf,
} from './held-extensions.ts';
import { underHeldLock } from './held-lock.ts';
import { deleteApproved, deleteKept, keptPath, settleApproval, undoApproval } from './undo-approval.ts';
import { assertAgentMayWrite, extensionsFolder } from './writable-extension.ts';

export interface Approval {
  /** Relative to the extension's folder. */
  readonly paths: readonly string[];
  /** The files were already in effect: an earlier process approved them and ended before it could say this. */
  readonly wasInEffect: boolean;
}

/**
 * Moves all held files to `extensions/`, or none when it throws. First undoes an interrupted approval.
 * @param digest - Of the difference that the person has seen.
 * @throws EXTENSION_NOT_HELD; EXTENSION_CHANGED when the difference has changed since; EXTENSION_HALF_APPROVED when one
 * was interrupted and the root is not approved; EXTENSION_PROTECTED, WRITE_FAILED.
 */
export function approveExtension(root: Root, name: string, digest: string): Approval {
  if (heldFolder(root.dir) === undefined || !isExtensionName(name))
    throw extensionNotHeld(name, allHeld(root.dir).held);
  return underHeldLock(root.dir, () => approve(root, name, digest));
}

export const EXTENSION_QUESTION = 'An extension runs as you and may do everything you may do. Approve it?';

/** Approves it, records who did, and says so. @returns its paths. @throws as `approveExtension`. */
export function approveShownExtension(
  root: Root,
  { name, digest }: Pick<HeldExtension, 'name' | 'digest'>,
  actor: Pick<NewDecision, 'by' | 'reason'>,
  { say }: { say(line: string): void },
): readonly string[] {
  const { paths, wasInEffect } = approveExtension(root, name, digest);
  recordExtensionDecision(root.dir, name, { action: 'allow', digest, ...actor });
  const since = wasInEffect ? 'approved already, and in effect' : 'approved';
  say(`extensions/${name} is ${since}; the next start or restart loads it`);
  if (!root.trusted) say(`Its root is not approved: skill-registry approvals allow ${root.dir}`);
  return paths;
}

/**
 * Deletes the held files, or moves the extension out when there are none. @returns its new folder; undefined: deleted.
 * @throws EXTENSION_NOT_HELD when neither exists; else as `approveExtension`.
 */
export function revokeExtension(root: Root, name: string): string | undefined {
  const folders = [heldFolder(root.dir), extensionsFolder(root.dir)].filter((folder) => folder !== undefined);
  if (!isExtensionName(name) || !folders.some((folder) => existsSync(join(folder, name))))
    throw extensionNotHeld(name, allHeld(root.dir).held);
  return underHeldLock(root.dir, () => {
    settleApproval(root, name);
    return deleteHeld(root.dir, name) ? undefined : moveOut(root.dir, name);
  });
}

/**
 * Call it afterwards: what was approved stays when this throws TRUST_UNUSABLE.
 * @param decision.digest - Of the difference that was shown; null when an extension without held files was revoked.
 */
export function recordExtensionDecision(
  rootDir: string,
  name: string,
  decision: Pick<NewDecision, 'action' | 'by' | 'reason'> & { readonly digest: string | null },
): void {
  openTrust().decide({ kind: 'extension', path: join(rootDir, 'extensions', name), ...decision });
}

// --- internal ---

function approve(root: Root, name: string, digest: string): Approval {
  const { dir } = root;
  settleApproval(root, name);
  const last = lastApproval(dir, name);
  if (last && digestOfChange(last) === digest) return { paths: last.map(({ path }) => path), wasInEffect: true };
  const held = heldExtension(dir, name);
  if (!held) throw extensionNotHeld(name, allHeld(dir).held);
  assertAgentMayWrite(dir, name);
  if (digest !== held.digest) throw extensionChanged(name, 'this is not the difference that was shown');
  const edited = held.files.find((file) => file.changedSince);
  if (edited) {
    const file = `extensions/${name}/${edited.path}`;
    const command = 'skill-registry approvals';
    const keep = `To keep that change, write into the file what you want of both, then: ${command} revoke extensions/${name}.`;
    const drop = 'To drop it, make the file what it was, or remove it if it was not there, then look again:';
    const advice = `${keep} ${drop} ${command} show extensions/${name}.`;
    throw extensionChanged(name, `${file} was changed after the agent wrote its text`, advice);
  }
  putInEffect(dir, held);
  try {
    for (const file of held.files) deleteApproved(dir, name, file);
  } catch {
    // The approval is in effect. The files that remain equal the approved ones.
  }
  return { paths: held.files.map(({ path }) => path), wasInEffect: false };
}

/** All or nothing. The process may end between any two steps: then the marker says that the rest must be undone. */
function putInEffect(rootDir: string, { name, files }: HeldExtension): void {
  const activeFolder = makeFolder(join(rootDir, 'extensions'));
  const waiting = makeHeldFolder(rootDir);
  try {
    writeContained(waiting, markerPath(name), JSON.stringify(files.map(replacementOf)), { own: true });
    for (const { path, before, after } of files) {
      // An earlier approval may have failed to remove this file.
      deleteKept(activeFolder, name, path);
      const keep = posix.basename(keptPath(path));
      writeContained(activeFolder, `${name}/${path}`, after, { keep });
      const kept = readIfThere(activeFolder, `${name}/${keptPath(path)}`, false);
      if (kept === null || before?.equals(kept)) continue;
      renameContained(activeFolder, `${name}/${keptPath(path)}`, posix.basename(path));
      throw extensionChanged(name, `extensions/${name}/${path} was changed meanwhile`);
    }
    // From here on the approval is in effect.
    renameContained(waiting, markerPath(name), posix.basename(approvedPath(name)), { own: true });
  } catch (error) {
    undoApproval(rootDir, name, files, error);
    const reason = `${(error as Error).message} Nothing of it is in effect, and it still waits`;
    throw writeFailed(`extensions/${name}`, reason, error);
  }
}

/** The last approval, if all of its files are still there. The note is not trusted: it may have come with the root. */
function lastApproval(rootDir: string, name: string): readonly Replacement[] | undefined {
  const live = extensionsFolder(rootDir);
  try {
    const note = readIfThere(heldFolder(rootDir), approvedPath(name), true);
    const files = note === null ? [] : (JSON.parse(note.toString('utf8')) as readonly Replacement[]);
    const isInEffect = ({ path, after }: Replacement): boolean => {
      const now = readIfThere(live, `${name}/${path}`, false);
      return now !== null && hexDigestOf(now) === after;
    };
    return files.length > 0 && files.every(isInEffect) ? files : undefined;
  } catch {
    return undefined;
  }
}

/** Deletes all when some of it cannot be read, such as a file that is too large. @returns whether anything waited. */
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

function moveOut(rootDir: string, name: string): string {
  const base = extensionsFolder(rootDir);
  if (base === undefined || !existsSync(join(base, name))) throw extensionNotHeld(name, allHeld(rootDir).held);
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
