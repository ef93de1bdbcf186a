import { CodedError, isCodedError } from 'skill-registry/kernel';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { type OriginHeaders, originRefused, originUnavailable, sendJson } from '../../../../../lib/fetch/index.ts';
import { oneLine } from '../../../../../lib/text/index.ts';
import { abortAfter } from '../../../../../lib/waiting/index.ts';
import type { Guard } from '../../../core/skill/guard.ts';
import { assertNotRevoked } from '../../guard/revoked.ts';

export interface HubOptions {
  /** One or two, without a slash at the end. */
  readonly addresses: readonly string[];
  readonly space: string;
  /** @throws SECRET_NOT_APPROVED, SECRET_MISSING. */
  readonly headersOf: (address: string) => OriginHeaders;
  readonly mayName?: Guard['mayName'] | undefined;
}

/** A space of a hub that is asked at one of its addresses. */
export interface Hub extends HubOptions {
  /**
   * Asks the address that answered last, and the other one where that is away or does not answer in time.
   * @throws as `ask`; SOURCE_REVOKED, and as `headersOf`.
   */
  use<T>(limitMs: number, signal: AbortSignal | undefined, ask: (at: HubAt) => Promise<T>): Promise<T>;
  /** @throws HUB_REFUSED, or with the code of the hub; ORIGIN_UNAVAILABLE when it is to be sent again later. */
  send(path: string, body: object, signal?: AbortSignal): Promise<unknown>;
}

export interface HubAt {
  /** Of the space, without a slash at the end. */
  readonly base: string;
  readonly headers: OriginHeaders;
  readonly signal: AbortSignal;
}

export function spaceOf(address: string, space: string): string {
  return `${address}/v1/spaces/${space}`;
}

export function createHub(options: HubOptions): Hub {
  const { addresses, space, headersOf, mayName } = options;
  let current = 0;
  const use: Hub['use'] = async (limitMs, ended, ask) => {
    // Nothing is asked before a person has approved all of them.
    const secrets = addresses.map(headersOf);
    for (let tried = 1; ; tried++) {
      const address = addresses[current] ?? '';
      try {
        assertNotRevoked(address);
        const headers = secrets[current] as OriginHeaders;
        return await ask({ base: spaceOf(address, space), headers, signal: abortAfter(limitMs, ended) });
      } catch (error) {
        if (ended?.aborted || !isAway(error)) throw error;
        current = (current + 1) % addresses.length;
        if (tried === addresses.length) throw error;
      }
    }
  };
  return {
    ...options,
    use,
    async send(path, body, signal) {
      return use(SEND_MS, signal, async ({ base, ...how }) => {
        const url = `${base}/${path}`;
        const { status, bytes } = await sendJson(url, JSON.stringify(body), MAX_ANSWER, how);
        const answer = withFallback((): unknown => JSON.parse(bytes.toString('utf8')), undefined);
        if (status >= 200 && status < 300) return answer;
        if (status < 400 || LATER.has(status) || status >= 500)
          throw originUnavailable(url, `it answers with status ${status}`, undefined, { status });
        throw await refusalOf(base, status, answer, mayName);
      });
    },
  };
}

/** JSON that a hub answers with. @throws ORIGIN_REFUSED. */
export function readAnswer<T>(
  bytes: Buffer,
  url: string,
  schema: { safeParse(value: unknown): { success: true; data: T } | { success: false } },
): T {
  const read = schema.safeParse(withFallback((): unknown => JSON.parse(bytes.toString('utf8')), undefined));
  if (read.success) return read.data;
  throw originRefused(url, 'its answer is none of a hub.');
}

/** What a hub says, for an agent: one line that an inspection finds nothing in; else undefined. */
export async function toldBy({ mayName }: Pick<HubOptions, 'mayName'>, text: unknown): Promise<string | undefined> {
  if (typeof text !== 'string' || text.trim() === '') return undefined;
  const line = oneLine(text, MAX_MESSAGE);
  return (await mayName?.([line])) === false ? undefined : line;
}

// --- internal ---

const SEND_MS = 20_000;
const MAX_ANSWER = 1024 * 1024;
const MAX_MESSAGE = 500;
/** The same request may be taken later. */
const LATER: ReadonlySet<number> = new Set([401, 408, 429]);

function isAway(error: unknown): boolean {
  if (isCodedError(error, 'SOURCE_REVOKED')) return true;
  const status = isCodedError(error, 'ORIGIN_UNAVAILABLE') ? Number(error.details.status ?? 500) : 0;
  return status >= 500;
}

async function refusalOf(
  base: string,
  status: number,
  answer: unknown,
  mayName: HubOptions['mayName'],
): Promise<CodedError> {
  const { code, message } = Object(Object(answer).error) as { readonly code?: unknown; readonly message?: unknown };
  const said = await toldBy({ mayName }, message);
  const text = `The hub ${base} refuses it (status ${status})${said === undefined ? '.' : `: ${said}`}`;
  const isCode = typeof code === 'string' && /^[A-Z][A-Z_]{2,39}$/.test(code);
  return new CodedError(isCode ? code : 'HUB_REFUSED', text, { status, refused: true });
}
