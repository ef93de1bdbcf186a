import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describeError, isCodedError } from 'skill-registry/kernel';
import { withFallback } from '../../../../lib/errors/index.ts';
import { downloadIfChanged, type OriginHeaders } from '../../../../lib/fetch/index.ts';
import { futureRealPath, makePrivateFolder, readContained, writeContained } from '../../../../lib/files/index.ts';
import { userStateDirectory, whyNotTrusted } from '../../../../lib/trust/index.ts';
import { abortAfter } from '../../../../lib/waiting/index.ts';
import { settledWithin } from '../../core/sources/source.ts';
import { type Policy, readPolicy } from './rules.ts';

/** What is kept of a page's policy, for every process of the user. */
interface Kept {
  readonly url: string;
  /** When the page last confirmed it, in milliseconds since the epoch. */
  readonly at: number;
  readonly etag?: string | undefined;
  /** As received; null: the page has none. */
  readonly text: string | null;
}

const MAX_POLICY = 4 * 1024 * 1024;
const INTERVAL_MS = 60_000;
const LIMIT_MS = 30_000;

/** The policy.json of one page: the last one that it gave, which a 404, an error or an older version do not replace. */
export class KeptPolicy {
  readonly #url: string;
  readonly #headers: () => OriginHeaders | undefined;
  readonly #changed: () => void;
  readonly #ended: AbortSignal;
  readonly #file: string;
  #kept: Kept | undefined;
  #policy: Policy | undefined;
  #fault: string | undefined;
  #isWrong = false;
  #asking: Promise<void> | undefined;
  #askedAt = 0;

  /** @param headers - With secrets. @throws when one is missing. */
  constructor(url: string, headers: () => OriginHeaders | undefined, ended: AbortSignal, changed: () => void) {
    this.#url = url;
    this.#headers = headers;
    this.#ended = ended;
    this.#changed = changed;
    const name = createHash('sha256').update(url).digest('hex').slice(0, 32);
    this.#file = join(policyFolder(), `${name}.json`);
    this.#take(this.#read());
  }

  get policy(): Policy | undefined {
    return this.#policy;
  }

  /** Why the last answer was not taken; not for a page that never had one. */
  get fault(): string | undefined {
    return this.#policy || this.#isWrong ? this.#fault : undefined;
  }

  /** Why what it governs is held although no rule says so. @param hours - Undefined: nobody has named it. */
  missing(hours?: number): string | undefined {
    if (hours === undefined) return this.#kept ? undefined : this.#unknown();
    if (!this.#policy || !this.#kept) return `it was never read here (${this.#fault ?? 'no answer yet'})`;
    const { at } = this.#kept;
    if (Math.abs(Date.now() - at) <= hours * 3_600_000) return undefined;
    const since = `${new Date(at).toISOString()}, more than ${hours} hours ago`;
    return `its page last confirmed it on ${since}${this.#fault === undefined ? '' : ` (${this.#fault})`}`;
  }

  /** Asks the page if that is due, and waits at most that long. */
  async renew(waitMs: number): Promise<void> {
    const now = Date.now();
    const { at = 0 } = this.#kept ?? {};
    const isDue = Math.abs(now - at) >= INTERVAL_MS && Math.abs(now - this.#askedAt) >= INTERVAL_MS;
    if (isDue && this.#asking === undefined && !this.#ended.aborted) {
      this.#askedAt = now;
      this.#asking = this.#ask().finally(() => {
        this.#asking = undefined;
      });
    }
    if (this.#asking !== undefined) await settledWithin(this.#asking, waitMs);
  }

  #unknown(): string | undefined {
    if (this.#isWrong) return this.#fault;
    // A page that cannot be asked shows what its copy has, as it did before.
    return this.#fault === undefined ? 'its page has not answered yet whether it has one' : undefined;
  }

  async #ask(): Promise<void> {
    const before = [this.#kept?.text, this.#fault];
    // Another process may have asked since.
    const other = this.#read();
    if (other && other.at > (this.#kept?.at ?? 0)) this.#take(other);
    try {
      const signal = abortAfter(LIMIT_MS, this.#ended);
      const etag = this.#kept?.etag;
      const found = await downloadIfChanged(`${this.#url}/${POLICY_PATH}`, MAX_POLICY, {
        signal,
        etag,
        headers: this.#headers(),
      });
      const text = found ? found.bytes.toString('utf8') : (this.#kept?.text ?? null);
      this.#answered(text, found ? found.etag : etag);
    } catch (error) {
      const isNone = isCodedError(error) && [403, 404, 410].includes(Number(error.details.status));
      if (isNone && !this.#kept?.text) this.#keep({ url: this.#url, at: Date.now(), text: null });
      this.#isWrong = isCodedError(error, 'ORIGIN_REFUSED');
      this.#fault = isNone ? `${this.#url} has no ${POLICY_PATH}` : describeError(error);
    }
    if (!this.#ended.aborted && (before[0] !== this.#kept?.text || before[1] !== this.#fault)) this.#changed();
  }

  #answered(text: string | null, etag: string | undefined): void {
    const read = text === null ? undefined : readPolicy(text);
    this.#isWrong = typeof read === 'string';
    const now = this.#policy?.version ?? 0;
    if (typeof read === 'string') this.#fault = `${POLICY_PATH} is wrong (${read})`;
    else if (read && text !== this.#kept?.text && read.version <= now)
      this.#fault = `it has the version ${read.version}, and ${now} was read before; give a changed policy a higher one`;
    else {
      this.#fault = undefined;
      this.#keep({ url: this.#url, at: Date.now(), etag, text });
    }
  }

  #keep(kept: Kept): void {
    this.#take(kept);
    // Without it the next process asks again; what was read counts in this one.
    withFallback(() => {
      makePrivateFolder(policyFolder());
      writeContained(
        futureRealPath(policyFolder()),
        this.#file.slice(policyFolder().length + 1),
        JSON.stringify(kept),
        {
          own: true,
        },
      );
    });
  }

  #take(kept: Kept | undefined): void {
    const read = typeof kept?.text === 'string' ? readPolicy(kept.text) : undefined;
    if (!kept || typeof read === 'string') return;
    this.#kept = kept;
    this.#policy = read;
  }

  /** Undefined where others could have written it. */
  #read(): Kept | undefined {
    if (withFallback(() => whyNotTrusted(this.#file), 'unknown') !== undefined) return undefined;
    const folder = futureRealPath(policyFolder());
    const name = this.#file.slice(policyFolder().length + 1);
    const read = () => JSON.parse(readContained(folder, name, 2 * MAX_POLICY, { own: true }).toString('utf8')) as Kept;
    const kept = withFallback(read);
    return kept?.url === this.#url && typeof kept.at === 'number' ? kept : undefined;
  }
}

export function policyFolder(): string {
  return join(userStateDirectory(), 'policies');
}

// --- internal ---

/** Beside the index of a page. */
const POLICY_PATH = '.well-known/agent-skills/policy.json';
