/** Public types of the hub. */

declare module '../../core/config/config.ts' {
  interface SkillRegistryConfig {
    /** `four_eyes`: at this hub somebody else approves than who has proposed or edited, and nobody publishes. */
    readonly hub: { readonly four_eyes: boolean };
  }

  interface SourceConfig {
    /** A hub, at one address or two: https:, or http: on this machine. Copies are in the user's cache directory. */
    readonly hub?: string | readonly string[] | undefined;
    /** Of the hub. Default: `team`. */
    readonly space?: string | undefined;
    /** `${NAME}` of the secret that is this machine's token, sent to the addresses of `hub` alone. */
    readonly token?: string | undefined;
    /** Ids: nothing else of the space is listed. Default: all. */
    readonly only?: readonly string[] | undefined;
  }
}

export {};
