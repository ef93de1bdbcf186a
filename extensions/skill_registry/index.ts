/** `skill-registry`: the registry as a library. Exports only types that programs write by name. */

/** Thrown on purpose: branch on `code`, show `message`. */
export { type CodedError, isCodedError } from '../../lib/errors/index.ts';
export type { SkillRegistry, SkillRegistryExtension } from './core/api.ts';
export type { Snapshot } from './core/catalog/snapshot.ts';
export type { SkillRegistryConfigInput, SourceConfigInput } from './core/config/config.ts';
export type { UsageEvent } from './core/events.ts';
export type { SkillRegistryOptions } from './core/options.ts';
export type { ResourceContent, SkillContent, SkillLoadedEvent } from './core/read/types.ts';
export type { ListQuery, SkillList } from './core/search/types.ts';
export type { Finding } from './core/skill/guard.ts';
export type { Skill } from './core/skill/skill.ts';
export { defineSource } from './core/sources/define-source.ts';
export type { CustomSkill, CustomSource } from './core/sources/types.ts';
export * from './features.ts';
export { createSkillRegistry } from './registry.ts';
