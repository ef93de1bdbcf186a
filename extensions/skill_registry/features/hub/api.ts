/** Public types of the hub. */
import type { OidcOptions, ProxyOptions } from '../../../skill_hub/api.ts';

/** What `serve` reads in the folder of the hub. */
export interface HubConfig {
  /** Nobody approves what they proposed or edited, and nobody publishes. Default: false. */
  readonly four_eyes: boolean;
  readonly oidc?: HubOidc | undefined;
  readonly proxy?: HubProxy | undefined;
}

/** People log in at an OpenID provider. `client_secret` is `${NAME}` of the secret. */
export interface HubOidc extends Omit<OidcOptions, 'roles'> {
  /** By value of the claim: a role in the space `team`, or `space/role`. */
  readonly roles: Readonly<Record<string, string>>;
}

/** A proxy before the hub says who asks. `secret` is `${NAME}` of the secret. */
export interface HubProxy extends ProxyOptions {
  /** `reader`, or `space/reader`: what somebody may who is not in the list of people. Default: nothing. */
  readonly unknown?: string | undefined;
}

declare module '../../core/config/config.ts' {
  interface SkillRegistryConfig {
    readonly hub: HubConfig;
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
    /** What reviewers of the hub allowed in a content is let in here, too, and nothing else. Default: false. */
    readonly allowances?: boolean | undefined;
    /** `share`: how often agents here were given its skills is told to the hub. Default: nothing is. */
    readonly usage?: 'share' | undefined;
  }
}
