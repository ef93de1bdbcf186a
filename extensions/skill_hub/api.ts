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
  readonly proxy?: ProxyOptions | undefined;
}

export interface ProxyOptions {
  /** The header with the name of the person. */
  readonly header: string;
  /** The header with the secret, without which the name is not believed. */
  readonly secret_header: string;
  readonly secret: string;
}

export interface OidcOptions {
  /** Its address: https:, or http: on this machine. */
  readonly issuer: string;
  readonly client_id: string;
  readonly client_secret: string;
  /** Of the hub, as browsers see it: the provider sends them to `/login/done` there. */
  readonly address: string;
  /** The claim of the ID token that gives roles: a text, or a list of texts. */
  readonly claim: string;
  /** By value of the claim. */
  readonly roles: ReadonlyMap<string, HubGrant>;
  /** The claim that names the person; `email` must be verified. */
  readonly person: string;
  readonly scope: string;
}

/** A request to a route of a space, whose body is not larger than it may be. */
export interface HubAsked {
  readonly principal: HubPrincipal;
  /** What the path names: an id, or a digest. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** For its headers. */
  readonly request: Request;
  readonly body: Uint8Array;
  /** Whether the principal may still ask: another process may have revoked it. */
  isLetIn(): Promise<boolean>;
  /** Runs as one of the open polls of the principal. @throws HUB_BUSY. */
  waiting<T>(work: () => Promise<T>): Promise<T>;
  /** Aborts when the hub stops. */
  readonly stopping: AbortSignal;
}

export interface HubRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/v1/spaces/:space`; may name `:id` or `:digest`. */
  readonly path: string;
  readonly role: HubRole;
  /** Of a body. Default: none is read. */
  readonly mostBytes?: number;
  /** @returns what is sent as JSON, or the whole response. Errors are coded. */
  answer(asked: HubAsked): Promise<object>;
}

/** What is served. */
export interface HubService {
  readonly routes: readonly HubRoute[];
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
