/** `skill-registry/kernel`: the contract extensions are written against, and `boot` for hosts. */

/** The schema library of `Tool.input`, so that an extension needs no dependency of its own for it. */
export { z } from '#zod';
export { listContained, readContained, writeContained } from '../lib/files/index.ts';
export { countTokens, formatTable, printable } from '../lib/text/index.ts';
export { boot } from './boot/boot.ts';
export type { BootOptions } from './boot/boot-options.ts';
export { declaredTurn, listedExtensions } from './boot/declared-turn.ts';
export type { Kernel } from './boot/kernel.ts';
export { ownExtensionIds, packageRoot } from './boot/package-root.ts';
export { createSecrets, mergeConfig, readOwnerConfig } from './boot/settings.ts';
export { heldOfRoot, isOwnCheckout, rootNotApproved } from './boot/untrusted-root.ts';
export { yamlPackage } from './boot/yaml-package.ts';
export type * from './contract.ts';
export { CodedError, describeError, extensionNotHeld, isCodedError } from './errors.ts';
export { describeHeld } from './held/difference.ts';
export {
  approveExtension,
  type HeldExtension,
  heldExtension,
  heldExtensions,
  holdExtensionFile,
  listHeldFiles,
  readHeldFile,
  revokeExtension,
} from './held/held-extensions.ts';
export { type CallHook, createHookCaller } from './hooks.ts';
/** For doors that offer tools in a protocol of their own. */
export { defineTool, inputSchemaOf, runTool, toolError } from './offers/tools.ts';
export { withDeadline } from './turns/deadline.ts';
export { PART_SEPARATOR, renderTemplate } from './turns/system-text.ts';
export { withoutPaths } from './without-paths.ts';
