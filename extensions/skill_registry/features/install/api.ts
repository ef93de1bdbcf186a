import type { Origins } from './types.ts';

export type { AddPlan, ApplyOptions, ImportPlan, UpdatePlan } from './types.ts';

/** Other features may add to it. */
export interface RegistryOrigin extends Origins {}

declare module '../../core/api.ts' {
  interface SkillRegistry {
    /** Installs, verifies and updates skills, and knows where they come from. */
    readonly origin: RegistryOrigin;
  }
}
