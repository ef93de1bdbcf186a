/** The interface of the registry for other extensions, programs and doors. */
export type { SkillRegistry, SkillRegistryExtension } from './core/api.ts';
export type { UsageEvent } from './core/events.ts';
export type { ReadPolicy } from './core/read/types.ts';
export type * from './core/review.ts';
export type * from './core/search/types.ts';
export type * from './core/show/types.ts';
export type * from './core/skill/guard.ts';
export type { Skill } from './core/skill/skill.ts';
export type * from './core/sources/types.ts';
export type * from './features.ts';
