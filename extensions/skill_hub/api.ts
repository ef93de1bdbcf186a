/** Each may do what those before it may. */
export type HubRole = 'reader' | 'proposer' | 'reviewer' | 'admin';

export interface HubGrant {
  readonly space: string;
  readonly role: HubRole;
}

/** Who asks, in one space: by a token, or a person without one. */
export interface HubPrincipal extends HubGrant {
  /** Of the token, or the person. */
  readonly id: string;
  /** `person:<name>` */
  readonly person: string;
  /** Its role, and those before it. */
  readonly may: readonly HubRole[];
}

/** By which ways people come in without a token. */
export interface HubEntrance {
  readonly oidc?: OidcOptions | undefined;
  /** Names of the headers of the proxy, and the secret without which the person that it names is not believed. */
  readonly proxy?: { readonly header: string; readonly secret_header: string; readonly secret: string } | undefined;
}

export interface OidcOptions {
  readonly issuer: string;
  readonly client_id: string;
  readonly client_secret: string;
  /** Of the hub, as browsers see it. */
  readonly address: string;
  /** Claim with values of `roles`. */
  readonly claim: string;
  readonly roles: ReadonlyMap<string, HubGrant>;
  /** Claim with the name of the person. */
  readonly person: string;
  readonly scope: string;
}

export interface FeedQuery {
  readonly after: number;
  readonly epoch: string | undefined;
  readonly waitSeconds: number;
  /** Ends a wait. */
  readonly signal: AbortSignal;
}

/** What is served. Every function is given a principal whose space and role were compared; errors are coded. */
export interface HubService {
  /** Of a token, as of now: another process may have revoked it. */
  principalOf(secret: string): Promise<HubPrincipal | undefined>;
  /**
   * Of a person, as of now, one for each space; none for who was removed.
   * @param granted - Instead of what the list of people gives. Default: that, or what unknown people may.
   */
  principalsOf(name: string, granted?: readonly HubGrant[]): Promise<readonly HubPrincipal[]>;
  /** The name that an account of a provider had when it first came. Undefined: another account has this name. */
  nameOf(account: string, name: string): Promise<string | undefined>;
  /** @throws STORE_UNAVAILABLE. */
  assertReady(): Promise<void>;
  /** Waits until something is newer, or the time is over. @throws HUB_NO_PRINCIPAL once `isLetIn` says no. */
  feed(principal: HubPrincipal, query: FeedQuery, isLetIn: () => Promise<boolean>): Promise<object>;
  artifact(
    principal: HubPrincipal,
    digest: string,
  ): Promise<{ readonly bytes: Buffer; readonly type: 'skill-md' | 'archive' }>;
  search(principal: HubPrincipal, query: string, limit: number): Promise<object>;
  index(principal: HubPrincipal): Promise<object>;
  /** Of the space. @throws HUB_NOT_FOUND where it has none. */
  policy(principal: HubPrincipal): Promise<Buffer>;
  propose(principal: HubPrincipal, sent: unknown): Promise<{ readonly answer: object; readonly isNew: boolean }>;
  addUsage(principal: HubPrincipal, sent: unknown): Promise<{ readonly answer: object; readonly isNew: boolean }>;
  /** Of the last days. */
  usage(principal: HubPrincipal, days: number): Promise<object>;
  proposals(
    principal: HubPrincipal,
    filter: { readonly state?: string | undefined; readonly skillId?: string | undefined; readonly limit: number },
  ): Promise<object>;
  proposal(principal: HubPrincipal, id: string): Promise<object>;
  decide(principal: HubPrincipal, id: string, sent: unknown): Promise<object>;
  publish(
    principal: HubPrincipal,
    skillId: string,
    artifact: { readonly bytes: Buffer; readonly type: 'skill-md' | 'archive' },
    inspected: string | undefined,
  ): Promise<object>;
  withdraw(principal: HubPrincipal, skillId: string): Promise<object>;
  rollback(principal: HubPrincipal, skillId: string, sent: unknown): Promise<object>;
}

/** The review page of a space. It shows a request as that of the person who was let in, and asks for no token. */
export interface PersonPages {
  /** @param admitted.csrf - Every form of the session sends it back. */
  answer(request: Request, admitted: { readonly by: string; readonly csrf: string }): Promise<Response>;
}

/** What an operator is told of a request. Never a query, a body, an address or a secret. */
export interface HubRequest {
  readonly method: string;
  /** The pattern of its address. */
  readonly route: string;
  readonly status: number;
  /** Milliseconds, the wait of a poll included. */
  readonly ms: number;
  /** Of the error that it was answered with. */
  readonly code?: string | undefined;
  /** Who was let in, and with which token. */
  readonly person?: string | undefined;
  readonly principal?: string | undefined;
  /** As the address names them. */
  readonly space?: string | undefined;
  readonly subject?: string | undefined;
}
