/** For the command and the extensions of this package; the package does not export it. */
import type { CheckedExtensions, CheckOptions } from './boot/check-extensions.ts';
import type { TurnContext } from './contract.ts';

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
export { describeHeld } from './held/difference.ts';
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

// These modules need zod, which loads slowly: they load when called.

type Discover = typeof import('./boot/discover.ts');
const discover = (): Promise<Discover> => import('./boot/discover.ts');

export async function declaredTurn(...given: Parameters<Discover['declaredTurn']>): Promise<TurnContext> {
  return (await discover()).declaredTurn(...given);
}

export async function declaredTurns(rootDir: string, trusted: boolean): Promise<readonly TurnContext[]> {
  return (await discover()).declaredTurns(rootDir, trusted);
}

export async function listedExtensions(
  rootDir: string,
  trusted: boolean,
): Promise<ReturnType<Discover['listedExtensions']>> {
  return (await discover()).listedExtensions(rootDir, trusted);
}

export async function checkExtensions(options: CheckOptions): Promise<CheckedExtensions> {
  return (await import('./boot/check-extensions.ts')).checkExtensions(options);
}
