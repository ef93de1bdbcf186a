/** `skill-registry/kernel`: what extensions are written with, and `boot` for hosts. Our own parts also use host.ts. */
import type { BootOptions, Kernel } from './boot/kernel.ts';

/** The schema library of `Tool.input`, so that an extension needs no dependency of its own for it. */
export { z } from '#zod';
export type { BootOptions, Kernel } from './boot/kernel.ts';
export type * from './contract.ts';
export { CodedError, describeError, isCodedError } from './errors.ts';
/** `inputSchemaOf` and `runTool` are for doors that offer tools in a protocol of their own. */
export { defineTool, inputSchemaOf, runTool, toolError } from './offers/tools.ts';

/**
 * As `boot` of boot/kernel.ts. Who uses the registry as a library never boots, so the kernel is loaded when this is called.
 */
export async function boot(options: BootOptions): Promise<Kernel> {
  return (await import('./boot/kernel.ts')).boot(options);
}
