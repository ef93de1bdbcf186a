/** `skill-registry/kernel`: the contract extensions are written against, and `boot` for hosts. */
import type { BootOptions, Kernel } from './boot/kernel.ts';
import type { TurnContext } from './contract.ts';

/** The schema library of `Tool.input`, so that an extension needs no dependency of its own for it. */
export { z } from '#zod';
export { listContained, readContained, writeContained } from '../lib/files/index.ts';
export { countTokens, formatTable, printable } from '../lib/text/index.ts';
export { ownExtensionIds, packageRoot } from './boot/extension-folders.ts';
export type { BootOptions, Kernel } from './boot/kernel.ts';
export { createSecrets, mergeConfig, readOwnerConfig } from './boot/settings.ts';
export {
  assertDataInRoot,
  assertHeldInRoot,
  heldOfRoot,
  isOwnCheckout,
  rootNotApproved,
} from './boot/untrusted-root.ts';
export type * from './contract.ts';
export { CodedError, codeProtected, describeError, extensionNotHeld, isCodedError } from './errors.ts';
export { approveExtension, revokeExtension } from './held/approve-or-revoke.ts';
export { isCode } from './held/code-folders.ts';

export { describeHeld } from './held/difference.ts';
export {
  type HeldExtension,
  heldExtension,
  heldExtensions,
  holdExtensionFile,
  listHeldFiles,
  readHeldFile,
} from './held/held-extensions.ts';
export { type CallHook, createHookCaller } from './hooks.ts';
export { yamlPackage } from './lazy-packages.ts';
/** For doors that offer tools in a protocol of their own. */
export { defineTool, inputSchemaOf, runTool, toolError } from './offers/tools.ts';
export { withDeadline } from './turns/deadline.ts';
export { PART_SEPARATOR, renderTemplate } from './turns/system-text.ts';
export { withoutPaths } from './without-paths.ts';

// Who uses the registry as a library never boots, and most doors serve no agent in particular: what these do is loaded when
// they are called.

/** As `boot` of boot/kernel.ts. */
export async function boot(options: BootOptions): Promise<Kernel> {
  return (await import('./boot/kernel.ts')).boot(options);
}

/** As `declaredTurn` of boot/discover.ts. */
export async function declaredTurn(rootDir: string, agentId: string, trusted = true): Promise<TurnContext> {
  return (await import('./boot/discover.ts')).declaredTurn(rootDir, agentId, trusted);
}

/** As `listedExtensions` of boot/discover.ts. */
export async function listedExtensions(
  rootDir: string,
  trusted: boolean,
): Promise<ReturnType<typeof import('./boot/discover.ts').listedExtensions>> {
  return (await import('./boot/discover.ts')).listedExtensions(rootDir, trusted);
}
