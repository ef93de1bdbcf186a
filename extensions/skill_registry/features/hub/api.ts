/** Public types of the hub. */

declare module '../../core/config/config.ts' {
  interface SkillRegistryConfig {
    /** `four_eyes`: at this hub somebody else approves than who has proposed or edited, and nobody publishes. */
    readonly hub: { readonly four_eyes: boolean };
  }
}

export {};
