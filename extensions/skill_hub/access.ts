import { CodedError } from 'skill-registry/kernel';
import type { HubPrincipal, HubRole, HubService } from './api.ts';

/** Who sent a request: a principal for each space that is open to them. */
export interface Caller {
  readonly principals: readonly HubPrincipal[];
  /** The same as of now. None: not let in any more. */
  again(): Promise<readonly HubPrincipal[]>;
}

/** Undefined when nobody is let in. */
export async function callerWith(again: Caller['again']): Promise<Caller | undefined> {
  const principals = await again();
  return principals.length > 0 ? { principals, again } : undefined;
}

/** Of a token. */
export function principalsWith(service: HubService, secret: string): Caller['again'] {
  return async () => [(await service.principalOf(secret)) ?? []].flat();
}

/** The same answer for a space that is not there. @throws HUB_FORBIDDEN. */
export function principalFor({ principals }: Caller, space: string, role: HubRole): HubPrincipal {
  const found = principals.find((principal) => principal.space === space);
  if (!found) throw new CodedError('HUB_FORBIDDEN', 'This space is not open to you.');
  if (found.may.includes(role)) return found;
  throw new CodedError('HUB_FORBIDDEN', `This needs the role ${role}, and yours is ${found.role}.`, { role });
}

export interface Limits {
  /** @throws HUB_BUSY. */
  take(principal: Pick<HubPrincipal, 'id'>): void;
  /** Runs as one of the open polls of the principal. @throws HUB_BUSY. */
  waiting<T>(principal: Pick<HubPrincipal, 'id'>, work: () => Promise<T>): Promise<T>;
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

const PER_SECOND = 50;
const MOST_AT_ONCE = 500;
const MOST_POLLS = 8;

function busy(why: string): CodedError {
  return new CodedError('HUB_BUSY', `${why} Try again later.`);
}
