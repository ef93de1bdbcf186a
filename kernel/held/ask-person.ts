import { userInfo } from 'node:os';
import { describeError } from '../../lib/errors/index.ts';
import { openTrust } from '../../lib/trust/index.ts';
import { ownExtensionIds } from '../boot/extension-folders.ts';
import { heldOfRoot, isHeldInRoot } from '../boot/untrusted-root.ts';
import { approveExtension, recordExtensionDecision } from './approve-or-revoke.ts';
import { describeHeld, escapedPath, printableCode } from './difference.ts';
import { type HeldExtension, heldExtensions } from './held-extensions.ts';

export interface ApprovalRound {
  readonly rootDir: string;
  /** False: a yes also approves the root, and the question says this. */
  readonly trusted: boolean;
  /** Digests that the person was asked about. This round adds its own. */
  readonly asked: Set<string>;
  /** Undefined: nobody can be asked; nothing changes. */
  readonly ask: ((question: string) => Promise<boolean | undefined>) | undefined;
  notifyUser(text: string): void;
}

/** @returns whether anything was approved. Never rejects: failures go to the user, with whether the extension waits. */
export async function approveHeldExtensions({
  rootDir,
  trusted,
  asked,
  ask,
  notifyUser,
}: ApprovalRound): Promise<boolean> {
  let approved = false;
  if (!trusted && !isHeldInRoot(rootDir)) return false;
  for (const held of heldExtensions(rootDir)) {
    if (!ask || asked.has(held.digest)) continue;
    asked.add(held.digest);
    let state = 'still waits';
    try {
      if (!(await ask(await questionAbout(held, rootDir, trusted || approved)))) continue;
      const by = `person:${userInfo().username}`;
      if (!trusted && !approved) openTrust().decide({ action: 'allow', kind: 'root', path: rootDir, by });
      approveExtension({ dir: rootDir, trusted: true }, held.name, held.digest);
      approved = true;
      state = 'is approved';
      recordExtensionDecision(rootDir, held.name, { action: 'allow', by, digest: held.digest });
    } catch (error) {
      notifyUser(`extensions/${held.name} ${state}: ${describeError(error)}`);
    }
  }
  return approved;
}

// --- internal ---

async function questionAbout(held: HeldExtension, rootDir: string, trusted: boolean): Promise<string> {
  const others = trusted ? [] : heldOfRoot(rootDir);
  const more = others.length > 0 ? `, with ${others.join('; ')}` : '';
  return [
    await describeHeld(held, ownExtensionIds()),
    ...(trusted ? [] : [`A yes also approves the root ${printableCode(escapedPath(rootDir))}${more}.`]),
    'An extension runs as you and may do everything you may do. Run it?',
  ].join('\n');
}
