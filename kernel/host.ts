/** For the command and the extensions of this package; the package does not export it. */
export { builtExtensions, ownExtensionIds, packageRoot, packageVersion } from './boot/extension-folders.ts';
export { createSecrets, mergeConfig, readMapping, readOwnerConfig, yamlPackage } from './boot/settings.ts';
export {
  assertDataInRoot,
  assertHeldInRoot,
  heldOfRoot,
  isHeldInRoot,
  isOwnCheckout,
  unapprovedRootProblem,
} from './boot/untrusted-root.ts';
export { codeProtected, extensionNotHeld } from './errors.ts';
export {
  approveExtension,
  approveShownExtension,
  EXTENSION_QUESTION,
  recordExtensionDecision,
  revokeExtension,
} from './held/approve-or-revoke.ts';
export { isCode } from './held/code-folders.ts';
export { describeHeld } from './held/difference.ts';
export { halfApproved } from './held/half-approved.ts';
export {
  allHeld,
  type HeldExtension,
  heldExtension,
  heldExtensions,
  holdExtensionFile,
  listHeldFiles,
  readHeldFile,
} from './held/held-extensions.ts';
export { whileNobodyApproves } from './held/held-lock.ts';
export { undoApprovals, undoIfInterrupted } from './held/undo-approval.ts';
export { type CallHook, createHookCaller } from './hooks.ts';
export { withDeadline } from './turns/deadline.ts';
export { renderTemplate } from './turns/system-text.ts';
export { withoutPaths } from './without-paths.ts';

// These modules need zod, which loads slowly: they load when called.

type Discover = typeof import('./boot/discover.ts');
type Check = typeof import('./boot/check-extensions.ts');
type Late<Work extends (...given: never[]) => unknown> = (...given: Parameters<Work>) => Promise<ReturnType<Work>>;

const discover = (): Promise<Discover> => import('./boot/discover.ts');

export const declaredTurn: Late<Discover['declaredTurn']> = async (...given) =>
  (await discover()).declaredTurn(...given);

export const declaredTurns: Late<Discover['declaredTurns']> = async (...given) =>
  (await discover()).declaredTurns(...given);

export const declaredAgents: Late<Discover['declaredAgents']> = async (...given) =>
  (await discover()).declaredAgents(...given);

export const listedExtensions: Late<Discover['listedExtensions']> = async (...given) =>
  (await discover()).listedExtensions(...given);

export const checkExtensions: Check['checkExtensions'] = async (options) =>
  (await import('./boot/check-extensions.ts')).checkExtensions(options);
