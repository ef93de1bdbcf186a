import type { Usage } from './types.ts';

export type { UsageReport } from './types.ts';

declare module '../../core/api.ts' {
  interface SkillRegistry {
    /** What agents did with skills. */
    readonly usage: Usage;
  }
}

declare module '../../core/config/config.ts' {
  interface SkillRegistryConfig {
    /** Whether agents' use of skills is recorded; `queries: keep`: with what was asked where a skill was missed. */
    readonly usage: boolean | { readonly queries: 'keep' };
  }
}
