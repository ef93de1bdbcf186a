import { CodedError } from 'skill-registry/kernel';
import type { HubPrincipal, HubRole, HubService } from './api.ts';

/** A principal, and the secret by which it is asked again. */
export interface Caller {
  readonly principal: HubPrincipal;
  readonly secret: string;
}

/** @throws HUB_NO_PRINCIPAL. */
export async function callerOf(service: HubService, header: string | undefined): Promise<Caller> {
  const secret = /^bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? '';
  const principal = await service.principalOf(secret);
  if (principal) return { principal, secret };
  throw new CodedError(
    'HUB_NO_PRINCIPAL',
    'A token is missing, unknown, revoked or over: Authorization: Bearer skh_...',
  );
}

/** The same answer for a space that is not there. @throws HUB_FORBIDDEN. */
export function assertMay(principal: HubPrincipal, space: string, role: HubRole): void {
  if (principal.space !== space) throw new CodedError('HUB_FORBIDDEN', 'This token is not for this space.');
  if (mayAct(principal, role)) return;
  const message = `This needs the role ${role}, and the token has ${principal.role}.`;
  throw new CodedError('HUB_FORBIDDEN', message, { role });
}

export function mayAct({ role }: HubPrincipal, needed: HubRole): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

export interface Limits {
  /** @throws HUB_BUSY. */
  take(principal: HubPrincipal): void;
  /** Runs as one of the open polls of the principal. @throws HUB_BUSY. */
  waiting<T>(principal: HubPrincipal, work: () => Promise<T>): Promise<T>;
}

/** Requests are counted as of now; what was not used for ten seconds may come at once. */
export function createLimits(now: () => number = Date.now): Limits {
  const left = new Map<string, { tokens: number; at: number }>();
  const polls = new Map<string, number>();
  return {
    take({ id }) {
      const at = now();
      const before = left.get(id) ?? { tokens: MOST_AT_ONCE, at };
      const tokens = Math.min(MOST_AT_ONCE, before.tokens + ((at - before.at) / 1000) * PER_SECOND);
      if (tokens < 1) throw busy(`More than ${PER_SECOND} requests a second.`);
      left.set(id, { tokens: tokens - 1, at });
    },
    async waiting({ id }, work) {
      const open = polls.get(id) ?? 0;
      if (open >= MOST_POLLS) throw busy(`More than ${MOST_POLLS} open polls.`);
      polls.set(id, open + 1);
      try {
        return await work();
      } finally {
        const others = (polls.get(id) ?? 1) - 1;
        if (others === 0) polls.delete(id);
        else polls.set(id, others);
      }
    },
  };
}

/** Stops reading where it is too much, whatever the request says of itself. @throws HUB_TOO_LARGE. */
export async function bodyOf({ body, headers }: Request, most: number): Promise<Buffer> {
  if (Number(headers.get('content-length') ?? 0) > most) throw tooLarge(most);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > most) throw tooLarge(most);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

// --- internal ---

function tooLarge(most: number): CodedError {
  return new CodedError('HUB_TOO_LARGE', `The body may have ${most} bytes here.`);
}

const ROLES: readonly HubRole[] = ['reader', 'proposer', 'reviewer', 'admin'];
const PER_SECOND = 50;
const MOST_AT_ONCE = 500;
const MOST_POLLS = 8;

function busy(why: string): CodedError {
  return new CodedError('HUB_BUSY', `${why} Try again later.`);
}
