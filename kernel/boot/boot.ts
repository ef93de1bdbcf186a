import type { BootOptions } from './boot-options.ts';
import type { Kernel } from './kernel.ts';

/** As `boot` of kernel.ts, which is loaded only then: who uses the registry as a library never boots. */
export async function boot(options: BootOptions): Promise<Kernel> {
  return (await import('./kernel.ts')).boot(options);
}
