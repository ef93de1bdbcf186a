/** `skill-registry/kernel`: the contract extensions are written against, and `boot` for hosts. */

/** The schema library of `Tool.input`, so that an extension needs no dependency of its own for it. */
export { z } from '#zod';
export { boot } from './boot.ts';
export type { BootOptions } from './boot-options.ts';
export { PART_SEPARATOR } from './context-pipeline.ts';
export type * from './contract.ts';
export { withDeadline } from './deadline.ts';
export { declaredTurn, listedExtensions } from './declared-turn.ts';
export { CodedError, codeProtected, describeError, extensionNotHeld, isCodedError } from './errors.ts';
export { resourceNotFound, resourceTooLarge } from './files/errors.ts';
export { listContained } from './files/list-contained.ts';
export { type FolderMove, type MoveStep, moveFolder, settleMove, undoMove } from './files/move-folder.ts';
export { privateFile, privateFolder } from './files/owner-only.ts';
export {
  assertReadable,
  assertWritable,
  holdsReserved,
  isPrivateName,
  isPrivatePath,
  isReserved,
  type Reservation,
  reserve,
} from './files/reach.ts';
export { readContained } from './files/read-contained.ts';
export { readNamedFile } from './files/read-named-file.ts';
export { futureRealPath, realPathOf } from './files/real-path.ts';
export { isInside, relativeSegments } from './files/relative-path.ts';
export { removeContained, removeEmptyFolders } from './files/remove-contained.ts';
export { renameContained } from './files/rename-contained.ts';
export { type WriteOptions, writeContained } from './files/write-contained.ts';
export { isCode } from './held/code-folders.ts';
export { approveExtension, revokeExtension } from './held/decide-held.ts';

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
export type { Kernel } from './kernel.ts';
export { ownExtensionIds, packageRoot } from './package-root.ts';
export { renderTemplate } from './render-template.ts';
export { createSecrets, mergeConfig, readOwnerConfig } from './settings.ts';
export { formatTable, printable } from './text-table.ts';
export { countTokens, loadTokenCounter } from './tokens.ts';
/** For doors that offer tools in a protocol of their own. */
export { inputSchemaOf } from './tool-schema.ts';
export { defineTool, runTool, toolError } from './tools.ts';
export { assertDataInRoot, heldOfRoot, isOwnCheckout, rootNotApproved } from './untrusted-root.ts';
export { withoutPaths } from './without-paths.ts';
export { yamlPackage } from './yaml-package.ts';
