import { randomUUID } from 'node:crypto';
import { type AuthInfo, ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server';
import type { TurnContext } from 'skill-registry/kernel';
import { RecentMap } from '../../lib/recent-map/index.ts';

/** In `_meta` of a request: the name of its conversation. */
const THREAD_META_KEY = 'skill-registry/thread';
export const THREAD_NAME: string = 'A thread is named by 1 to 200 characters, none of them a control character.';

export function isThreadName(name: unknown): name is string {
  return typeof name === 'string' && /^[^\p{Cc}\p{Cs}\u2028\u2029]{1,200}$/u.test(name);
}

/** A thread that the client named is its agent's alone. */
export function inThread({ connectionId: _, ...turn }: TurnContext, threadId: string): TurnContext {
  return { ...turn, threadId, ownThread: true };
}

/** The turn of a request: in the thread of its `_meta`, else in that of its address or session, else as it is. */
export function turnOf({ mcpReq, http }: ServerContext, turn: TurnContext): TurnContext {
  const named = mcpReq._meta?.[THREAD_META_KEY];
  if (named !== undefined && !isThreadName(named))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${THREAD_META_KEY} of _meta: ${THREAD_NAME}`);
  const thread = named ?? http?.authInfo?.extra?.[THREAD_META_KEY];
  return isThreadName(thread) ? inThread(turn, thread) : turn;
}

/** What the client of a session calls itself. */
export function clientOf({ http }: ServerContext): string | undefined {
  return http?.authInfo?.clientId || undefined;
}

/** For the requests of an address that names a thread, or of a session. */
export function authInfoOf(thread: string | undefined, clientId = ''): AuthInfo {
  return { token: '', clientId, scopes: [], extra: thread === undefined ? {} : { [THREAD_META_KEY]: thread } };
}

/** Of clients of the 2025 protocol: each is a thread. They hold no server, only the name. */
export interface Sessions {
  begin(client: string): string;
  /** What its client calls itself. Undefined: it is none of these, or nobody used it for an hour. */
  use(id: string): string | undefined;
  end(id: string): void;
}

export function createSessions(now: () => number = Date.now): Sessions {
  const used = new RecentMap<string, { readonly at: number; readonly client: string }>(MOST_SESSIONS);
  return {
    begin(client) {
      const id = randomUUID();
      used.set(id, { at: now(), client });
      return id;
    },
    use(id) {
      const found = used.get(id);
      const isOpen = found !== undefined && now() - found.at <= IDLE_MS;
      if (isOpen) used.set(id, { ...found, at: now() });
      else used.delete(id);
      return isOpen ? found.client : undefined;
    },
    end: (id) => void used.delete(id),
  };
}

// --- internal ---

const MOST_SESSIONS = 1_000;
const IDLE_MS = 3_600_000;
