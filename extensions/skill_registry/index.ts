/** `skill-registry`: the registry as a library. */
export type * from './api.ts';
export type { SkillRegistryConfig, SkillRegistryConfigInput } from './config.ts';
export { createSkillRegistry, type SkillRegistryOptions } from './registry.ts';
