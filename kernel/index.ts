/** `skill-registry/kernel`: for extensions, and `boot` for hosts. The package's own parts also use host.ts. */
import type { Kernel } from './boot/kernel.ts';
import type { BootOptions } from './boot/kernel-state.ts';

/** For `Tool.input`: an extension needs no other copy of zod. */
export { z } from '#zod';
export type { Kernel } from './boot/kernel.ts';
export type { BootOptions } from './boot/kernel-state.ts';
export type * from './contract.ts';
export { CodedError, describeError, isCodedError } from './errors.ts';
/** For parts that offer tools through another protocol: `inputSchemaOf` and `runTool`. */
export { defineTool, inputSchemaOf, runTool, toolError } from './offers/tools.ts';

/** As `boot` of boot/kernel.ts, loaded when called. @throws ROOT_NOT_FOUND, INVALID_ARGUMENT. */
export async function boot(options: BootOptions): Promise<Kernel> {
  return (await import('./boot/kernel.ts')).boot(options);
}
