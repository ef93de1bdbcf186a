import { registryConfig } from './config.ts';
import type { SkillRegistry } from './core/api.ts';
import type { Feature } from './core/feature.ts';
import type { SkillRegistryOptions } from './core/options.ts';
import { openRegistry } from './core/registry.ts';
import features from './features.ts';

/**
 * Opens a registry and loads its catalog, without a kernel. Call `watch` or `refresh` to keep it up to date.
 * @returns after the first snapshot. Broken skills, sources and config keys are in `problems()`.
 */
export async function createSkillRegistry(options: SkillRegistryOptions = {}): Promise<SkillRegistry> {
  return openRegistry(options, features as readonly Feature[], registryConfig);
}
