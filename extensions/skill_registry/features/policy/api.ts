/** Public types of policies. */

declare module '../../core/config/config.ts' {
  interface SkillRegistryConfig {
    /**
     * `from`: the page whose policy.json governs every source, by its address, or by the id of a source; empty: none.
     * When the page has not confirmed it for `max_age_hours` (default: 24), every skill is held.
     */
    readonly policy: { readonly from: string; readonly max_age_hours: number };
  }
}

export {};
