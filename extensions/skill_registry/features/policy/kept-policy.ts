import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describeError, isCodedError } from 'skill-registry/kernel';
import { withFallback } from '../../../../lib/errors/index.ts';
import { futureRealPath, makePrivateFolder, readContained, writeContained } from '../../../../lib/files/index.ts';
import { userStateDirectory, whyNotTrusted } from '../../../../lib/trust/index.ts';
import { abortAfter, settledWithin } from '../../../../lib/waiting/index.ts';
import type { SkillSource } from '../../core/sources/source.ts';
import { type Policy, readPolicy } from './rules.ts';

/** What is kept of a page's policy, for every process of the user. */
interface Kept {
  readonly url: string;
  /** When the page last confirmed it, in milliseconds since the epoch. */
  readonly at: number;
  readonly etag?: string | undefined;
  /** As received; null: the page has none that is right. */
  readonly text: string | null;
  /** Why what the page gave is no policy, where no right one was read before. Stays until a right one comes. */
  readonly wrong?: string | undefined;
}

export const MAX_POLICY: number = 4 * 1024 * 1024;
const INTERVAL_MS = 60_000;
const LIMIT_MS = 30_000;

/** The policy.json of one page: the last one that it gave, which a 404, an error or an older version do not replace. */
export class KeptPolicy {
  readonly #url: string;
  readonly #download: Required<SkillSource>['policy'];
  readonly #changed: () => void;
  readonly #ended: AbortSignal;
  readonly #name: string;
  #kept: Kept | undefined;
  #policy: Policy | undefined;
  #fault: string | undefined;
  #asking: Promise<void> | undefined;
  #askedAt = 0;

  /** @param url - Of the page, or of the source that gives it. */
  constructor(url: string, download: Required<SkillSource>['policy'], ended: AbortSignal, changed: () => void) {
    this.#url = url;
    this.#download = download;
    this.#ended = ended;
    this.#changed = changed;
    this.#name = `${createHash('sha256').update(url).digest('hex').slice(0, 32)}.json`;
    this.#takeKept();
  }

  get policy(): Policy | undefined {
    return this.#policy;
  }

  /** Why the last answer was not taken, and the policy still counts. */
  get fault(): string | undefined {
    return this.#policy && this.#fault;
  }

  /** Why what it governs is held although no rule says so. @param hours - Undefined: nobody has named it. */
  missing(hours?: number): string | undefined {
    const why = this.#fault ?? this.#kept?.wrong;
    if (hours === undefined) {
      // A page that cannot be asked shows what its copy has, as it did before.
      return this.#kept || why !== undefined ? this.#kept?.wrong : 'its page has not answered yet whether it has one';
    }
    if (!this.#policy || !this.#kept) return `it was never read here (${why ?? 'no answer yet'})`;
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

  async #ask(): Promise<void> {
    const [asked, policy] = [this.#kept, this.#policy];
    const state = () => [this.#kept?.text, this.#kept?.wrong, this.#fault];
    const before = state();
    const download = async () => this.#download(asked?.etag, abortAfter(LIMIT_MS, this.#ended));
    const answer = await download().catch((error: unknown) => ({ error }));
    // Another process may have read a newer one meanwhile.
    this.#takeKept();
    if (answer && 'error' in answer) this.#failed(answer.error);
    else if (answer) this.#answered(new TextDecoder().decode(answer.bytes), answer.etag);
    else this.#answered(asked?.text ?? '', asked?.etag, policy);
    if (!this.#ended.aborted && state().some((one, at) => one !== before[at])) this.#changed();
  }

  #failed(error: unknown): void {
    if (isCodedError(error) && [403, 404, 410].includes(Number(error.details.status))) this.#none();
    else if (isCodedError(error, 'ORIGIN_REFUSED')) this.#wrong(describeError(error));
    else this.#fault = describeError(error);
  }

  #none(): void {
    this.#fault = `${this.#url} has no policy.json`;
    if (rankOf(this.#kept, this.#policy) < WRONG) this.#keep({ url: this.#url, at: Date.now(), text: null });
  }

  #answered(text: string, etag: string | undefined, read: Policy | string = readPolicy(text)): void {
    const now = this.#policy?.version ?? 0;
    // Web applications answer so where no file is.
    if (/^\s*<(!doctype|html)/i.test(text)) this.#none();
    else if (typeof read === 'string') this.#wrong(`policy.json is wrong (${read})`);
    else if (text !== this.#kept?.text && read.version <= now)
      this.#fault = `it has the version ${read.version}, and ${now} was read before; give a changed policy a higher one`;
    else {
      this.#fault = undefined;
      this.#keep({ url: this.#url, at: Date.now(), etag, text }, read);
    }
  }

  #wrong(why: string): void {
    this.#fault = why;
    if (!this.#policy) this.#keep({ url: this.#url, at: Date.now(), text: null, wrong: why });
  }

  #keep(kept: Kept, policy?: Policy): void {
    this.#kept = kept;
    this.#policy = policy;
    // Without it the next process asks again; what was read counts in this one.
    withFallback(() => {
      makePrivateFolder(policyFolder());
      writeContained(futureRealPath(policyFolder()), this.#name, JSON.stringify(kept), { own: true });
    });
  }

  /** Takes what a process has kept, unless what counts here is newer, or others could have written it. */
  #takeKept(): void {
    const folder = policyFolder();
    if (withFallback(() => whyNotTrusted(join(folder, this.#name)), 'unknown') !== undefined) return;
    const read = () => readContained(futureRealPath(folder), this.#name, 2 * MAX_POLICY, { own: true });
    let kept = withFallback(() => JSON.parse(read().toString('utf8')) as Kept);
    if (kept?.url !== this.#url || typeof kept.at !== 'number') return;
    const said = kept.text === this.#kept?.text ? this.#policy : readPolicy(kept.text ?? '');
    const policy = typeof said === 'string' ? undefined : said;
    if (typeof said === 'string' && kept.text !== null) kept = { ...kept, etag: undefined, text: null, wrong: said };
    const [here, there] = [rankOf(this.#kept, this.#policy), rankOf(kept, policy)];
    // Two wrote at the same moment, and the older one was the last.
    if (this.#kept && there < here) this.#keep(this.#kept, this.#policy);
    if (there < here || (there === here && kept.at <= (this.#kept?.at ?? 0))) return;
    this.#kept = kept;
    this.#policy = policy;
  }
}

export function policyFolder(): string {
  return join(userStateDirectory(), 'policies');
}

// --- internal ---

const [UNKNOWN, NONE, WRONG] = [-2, -1, 0];

/** What is lower never replaces what is higher: that a page has none ends neither a policy nor a wrong one. */
function rankOf(kept: Kept | undefined, policy: Policy | undefined): number {
  return policy?.version ?? (kept?.wrong !== undefined ? WRONG : kept ? NONE : UNKNOWN);
}
