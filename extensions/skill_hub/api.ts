/** Each may do what those before it may. */
export type HubRole = 'reader' | 'proposer' | 'reviewer' | 'admin';

/** Whose token a request has. */
export interface HubPrincipal {
  readonly id: string;
  readonly space: string;
  readonly role: HubRole;
  /** `person:<name>` */
  readonly person: string;
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
  /** As of now: another process may have revoked it. */
  principalOf(secret: string): Promise<HubPrincipal | undefined>;
  /** @throws STORE_UNAVAILABLE. */
  assertReady(): Promise<void>;
  /** Waits until something is newer, the time is over, or the token of `secret` is none any more. */
  feed(principal: HubPrincipal, query: FeedQuery, secret: string): Promise<object>;
  artifact(
    principal: HubPrincipal,
    digest: string,
  ): Promise<{ readonly bytes: Buffer; readonly type: 'skill-md' | 'archive' }>;
  search(principal: HubPrincipal, query: string, limit: number): Promise<object>;
  index(principal: HubPrincipal): Promise<object>;
  propose(principal: HubPrincipal, sent: unknown): Promise<{ readonly answer: object; readonly isNew: boolean }>;
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
