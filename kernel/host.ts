/** What the command and the extensions of this package need from the kernel beside index.ts. It is not exported by the package. */
import type { CheckedExtensions, CheckOptions } from './boot/check-extensions.ts';
import type { TurnContext } from './contract.ts';
import type { HeldExtension } from './held/held-extensions.ts';

export type { CheckedExtensions } from './boot/check-extensions.ts';
export { builtExtensions, ownExtensionIds, packageRoot } from './boot/extension-folders.ts';
export { createSecrets, mergeConfig, readOwnerConfig, yamlPackage } from './boot/settings.ts';
export {
  assertDataInRoot,
  assertHeldInRoot,
  heldOfRoot,
  isHeldInRoot,
  isOwnCheckout,
  unapprovedRootProblem,
} from './boot/untrusted-root.ts';
export { codeProtected, extensionNotHeld } from './errors.ts';
export { approveExtension, recordExtensionDecision, revokeExtension } from './held/approve-or-revoke.ts';
export { isCode } from './held/code-folders.ts';
export {
  allHeld,
  type HeldExtension,
  heldExtension,
  heldExtensions,
  holdExtensionFile,
  listHeldFiles,
  readHeldFile,
} from './held/held-extensions.ts';
export { undoApprovals, undoIfInterrupted } from './held/undo-approval.ts';
export { type CallHook, createHookCaller } from './hooks.ts';
export { withDeadline } from './turns/deadline.ts';
export { renderTemplate } from './turns/system-text.ts';
export { withoutPaths } from './without-paths.ts';

// Rarely used, and slow to load: their modules are loaded when they are called.

/** As `describeHeld` of held/difference.ts. */
export async function describeHeld(held: HeldExtension, ownIds: readonly string[]): Promise<string> {
  return (await import('./held/difference.ts')).describeHeld(held, ownIds);
}

/** As `declaredTurn` of boot/discover.ts. */
export async function declaredTurn(rootDir: string, agentId: string, trusted = true): Promise<TurnContext> {
  return (await import('./boot/discover.ts')).declaredTurn(rootDir, agentId, trusted);
}

/** As `declaredTurns` of boot/discover.ts. */
export async function declaredTurns(rootDir: string, trusted: boolean): Promise<readonly TurnContext[]> {
  return (await import('./boot/discover.ts')).declaredTurns(rootDir, trusted);
}

/** As `checkExtensions` of boot/check-extensions.ts. */
export async function checkExtensions(options: CheckOptions): Promise<CheckedExtensions> {
  return (await import('./boot/check-extensions.ts')).checkExtensions(options);
}

/** As `listedExtensions` of boot/discover.ts. */
export async function listedExtensions(
  rootDir: string,
  trusted: boolean,
): Promise<ReturnType<typeof import('./boot/discover.ts').listedExtensions>> {
  return (await import('./boot/discover.ts')).listedExtensions(rootDir, trusted);
}
