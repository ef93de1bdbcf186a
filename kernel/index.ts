/** `skill-registry/kernel`: the contract extensions are written against, and `boot` for hosts. */

/** The schema library of `Tool.input`, so that an extension needs no dependency of its own for it. */
export { z } from 'zod';
export { PART_SEPARATOR } from './context-pipeline.ts';
export type * from './contract.ts';
export { withDeadline } from './deadline.ts';
export { CodedError, describeError, isCodedError } from './errors.ts';
export { resourceNotFound, resourceTooLarge } from './files/errors.ts';
export { listContained } from './files/list-contained.ts';
export { readContained } from './files/read-contained.ts';
export { readNamedFile } from './files/read-named-file.ts';
export { isInside, relativeSegments } from './files/relative-path.ts';
export { writeContained } from './files/write-contained.ts';
export { type BootOptions, boot, type Kernel } from './kernel.ts';
export { packageRoot } from './package-root.ts';
export { renderTemplate } from './render-template.ts';
export { createSecrets, mergeConfig, readOwnerConfig } from './settings.ts';
export { formatTable, printable } from './text-table.ts';
export { countTokens, loadTokenCounter } from './tokens.ts';
export { defineTool, runTool, toolError } from './tools.ts';
