import type { EmbeddingsConfig } from './config.ts';

declare module '../../core/api.ts' {
  interface SkillRegistryAdmin {
    /**
     * Embeds the skills without a vector; `watch` does this too. Does nothing without `embeddings.base_url`. Retries a
     * temporary failure after at most 1, then 2 seconds, or later if the endpoint asks. `problems()` says why vectors
     * are missing.
     * @throws REGISTRY_CLOSED.
     */
    embedSkills(): Promise<EmbeddedSkills>;
  }
}

export interface EmbeddedSkills {
  readonly embedded: number;
  readonly total: number;
}

declare module '../../core/config/config.ts' {
  interface SkillRegistryConfig {
    readonly embeddings: EmbeddingsConfig;
  }
}
