/** Public types of the hub. */

/** What `serve` reads in the folder of the hub. */
export interface HubConfig {
  /** Somebody else approves than who has proposed or edited, and nobody publishes. Default: false. */
  readonly four_eyes: boolean;
  readonly oidc?: HubOidc | undefined;
  readonly proxy?: HubProxy | undefined;
}

/** People log in at an OpenID provider. */
export interface HubOidc {
  /** Its address: https:, or http: on this machine. */
  readonly issuer: string;
  readonly client_id: string;
  /** `${NAME}` of the secret. */
  readonly client_secret: string;
  /** The hub's own, as browsers see it: the provider sends them to `/login/done` there. */
  readonly address: string;
  /** The claim of the ID token that gives roles: a text, or a list of texts. */
  readonly claim: string;
  /** By value of the claim: a role in the space `team`, or `space/role`. */
  readonly roles: Readonly<Record<string, string>>;
  /** The claim that names the person. Default: `email`, which must be verified. */
  readonly person: string;
  /** Default: `openid email`. */
  readonly scope: string;
}

/** A proxy before the hub says who asks. */
export interface HubProxy {
  /** The header with the name of the person. */
  readonly header: string;
  /** The header with the secret, without which the name is not believed. */
  readonly secret_header: string;
  /** `${NAME}` of the secret. */
  readonly secret: string;
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
