import { type CodedError, describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import type { OriginHeaders } from '../../../../lib/fetch/index.ts';
import { abortAfter, aborted, backOff } from '../../../../lib/waiting/index.ts';
import type { DirectorySourceOptions } from '../../core/sources/kinds/directory-source.ts';
import { settledWithin } from '../../core/sources/source.ts';
import type { SecretHeaders } from '../install/secret-headers.ts';
import type { IndexEntry } from './page.ts';
import {
  type CopiedSkill,
  copyKey,
  damagedSkills,
  type FetchCopy,
  type FetchSkill,
  fetchedSkills,
  isOfSkill,
  type PageCopy,
  readCopy,
  statsOfCopy,
} from './well-known-copy.ts';

export interface WellKnownSourceOptions extends Pick<DirectorySourceOptions, 'cache' | 'id' | 'validation'> {
  /** Default: `well-known`. */
  readonly kind?: string;
  readonly url: string;
  /** Milliseconds before the page is asked again. */
  readonly intervalMs: number;
  /** The longest retry delay in milliseconds. Default: 15 minutes, or `intervalMs` if that is longer. */
  readonly maxMs?: number;
  /** Beside its own. Default: none. */
  readonly moreProblems?: () => readonly Problem[];
  /** What the copy is named by, beside the address. Default: the names of the secret. */
  readonly copyOf?: object | undefined;
  /** Report no problem while the copy is missing. */
  readonly optional: boolean;
  /** Loaded when a page is asked. */
  readonly fetching: () => Promise<{ readonly fetchCopy: FetchCopy; readonly fetchSkill: FetchSkill }>;
  /** Of a page that wants a secret. `fill` throws a `CodedError` when it may not be sent, or is not set. */
  readonly secret?: { readonly names: SecretHeaders; fill(): OriginHeaders } | undefined;
}

export interface OpenedCopy {
  readonly copy: PageCopy | undefined;
  readonly here: readonly CopiedSkill[];
  /** Of the others. */
  readonly away: readonly IndexEntry[];
  /** When the page last confirmed the copy, in milliseconds since the epoch; 0 without a copy. */
  readonly answeredAt: number;
  readonly damaged: Set<CopiedSkill>;
}

export const NO_COPY: OpenedCopy = { copy: undefined, here: [], away: [], answeredAt: 0, damaged: new Set() };

/** Keeps the copy of a page up to date. */
export class PageRefresh {
  readonly #options: WellKnownSourceOptions & { readonly folder: string };
  readonly #ended = new AbortController();
  /** What has come since the copy was written, by `copyKey`. */
  readonly fetched: Map<string, CopiedSkill> = new Map();
  readonly #coming = new Map<string, Promise<void>>();
  #opened: OpenedCopy = NO_COPY;
  /** Of the files that `#opened` was read from. */
  #identity: readonly string[] = [];
  #changed: (() => void) | undefined;
  #asking: Promise<void> | undefined;
  #isFirst = true;
  /** A scan waits and will report the result itself. */
  #isAwaited = false;
  #failed: Failure | undefined;
  #failures = 0;
  /** An artifact was not what its entry says: the page may have changed. */
  #isOutdated = false;
  /** Why its secret cannot be sent. Then its copy is not used either. */
  #noSecret: CodedError | undefined;
  #headers: OriginHeaders | undefined;
  #notBefore = 0;

  constructor(options: WellKnownSourceOptions & { readonly folder: string }) {
    this.#options = options;
  }

  /** Asks the page if that is due. */
  async current(): Promise<OpenedCopy> {
    if (!this.#hasSecret()) return NO_COPY;
    const { copy, answeredAt, damaged } = await this.#open();
    const now = Date.now();
    const isOld = !copy || damaged.size > 0 || Math.abs(now - answeredAt) >= this.#options.intervalMs;
    const isDue = this.#isOutdated || (isOld && now >= this.#notBefore);
    if (isDue && this.#asking === undefined && !this.#ended.signal.aborted)
      this.#asking = this.#ask(new Set([...damaged].map(({ digest }) => digest)));
    if (this.#asking !== undefined && this.#isFirst) {
      this.#isAwaited = true;
      await settledWithin(this.#asking, copy ? WAIT_MS : FIRST_COPY_MS);
      this.#isAwaited = false;
    }
    this.#isFirst = false;
    return this.#open();
  }

  async follow(signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#ended.signal]);
    while (!ended.aborted) {
      let rest = MAX_PAUSE_MS;
      if (this.#hasSecret()) {
        this.#asking ??= this.#ask(new Set(), ended);
        await this.#asking;
        rest = this.#failed ? this.#notBefore - Date.now() : PAUSE_MS;
      }
      await aborted(abortAfter(Math.max(0, rest), ended));
    }
  }

  #hasSecret(): boolean {
    try {
      this.#headers = this.#options.secret?.fill();
      this.#noSecret = undefined;
    } catch (error) {
      if (!isCodedError(error)) throw error;
      this.#noSecret = error;
    }
    return this.#noSecret === undefined;
  }

  async #open(): Promise<OpenedCopy> {
    const { folder } = this.#options;
    const stats = statsOfCopy(folder);
    if (!stats) return NO_COPY;
    const { ino, size, birthtimeMs, mtimeMs: answeredAt } = stats;
    const journal = statsOfCopy(folder, 'fetched.jsonl');
    // mtime is left out: it changes with every answer of the page.
    const identity = [`${ino} ${size} ${birthtimeMs}`, `${journal?.ino} ${journal?.size}`];
    const isSame = identity.map((one, at) => this.#opened.copy !== undefined && one === this.#identity[at]);
    if (isSame.every(Boolean)) this.#opened = { ...this.#opened, answeredAt };
    else {
      const copy = isSame[0] ? this.#opened.copy : readCopy(folder);
      this.#identity = identity;
      this.fetched.clear();
      for (const one of fetchedSkills(folder)) this.fetched.set(copyKey(one), one);
      const entries = copy?.entries ?? [];
      const come = entries.flatMap((entry) => this.fetched.get(copyKey(entry)) ?? []);
      const here = [...(copy?.skills ?? []), ...come];
      const away = come.length === 0 ? entries : entries.filter((entry) => !this.fetched.has(copyKey(entry)));
      this.#opened = { copy, here, away, answeredAt, damaged: new Set(await damagedSkills(folder, here)) };
    }
    return this.#opened;
  }

  /** Once for all who ask at once. */
  bring(entry: IndexEntry): Promise<void> {
    const key = copyKey(entry);
    const coming = this.#coming.get(key) ?? this.#fetch(entry).finally(() => this.#coming.delete(key));
    this.#coming.set(key, coming);
    return coming;
  }

  async #fetch(entry: IndexEntry): Promise<void> {
    const { url, folder, fetching, secret } = this.#options;
    const signal = abortAfter(READ_MS, this.#ended.signal);
    try {
      const { fetchSkill } = await fetching();
      const copied = await fetchSkill({ url, folder, entry, signal, headers: secret?.fill() });
      this.fetched.set(copyKey(copied), copied);
    } catch (error) {
      this.#isOutdated ||= isOfSkill(error);
      if (this.#isOutdated) this.#changed?.();
      throw error;
    }
  }

  problems({ copy, answeredAt }: OpenedCopy): readonly Problem[] {
    const { url, optional } = this.#options;
    if (this.#noSecret) {
      const { code, message } = this.#noSecret;
      return [{ code, severity: 'error', file: url, message }];
    }
    if (!copy && this.#asking !== undefined)
      return [{ code: 'ORIGIN_UNAVAILABLE', severity: 'warning', file: url, message: STILL_FETCHING }];
    if (!this.#failed || this.#failed.at < answeredAt || (!copy && optional)) return [];
    return [problemOf(this.#failed, url, copy ? new Date(answeredAt).toISOString() : undefined)];
  }

  subscribe(changed: () => void): () => void {
    this.#changed = changed;
    return () => {
      this.#changed = undefined;
      this.#ended.abort();
    };
  }

  /** @param waiting - Of one who waits for news. */
  async #ask(damaged: ReadonlySet<string>, waiting?: AbortSignal): Promise<void> {
    const { url, folder, intervalMs, fetching, maxMs = MAX_MS } = this.#options;
    const signal = waiting ?? this.#ended.signal;
    const before = this.#failed?.message;
    const asked = { url, folder, damaged, signal, waits: waiting !== undefined, headers: this.#headers };
    let [isComplete, isSame] = [false, false];
    this.#isOutdated = false;
    try {
      const { fetchCopy } = await fetching();
      ({ isComplete, isSame = false } = await fetchCopy(asked));
      this.#failed = undefined;
    } catch (error) {
      if (!signal.aborted) this.#failed = failureOf(error);
    }
    this.#failures = isComplete ? 0 : this.#failures + 1;
    const again = { firstMs: intervalMs, maxMs: Math.max(intervalMs, maxMs), jitter: true };
    this.#notBefore = Date.now() + (isComplete ? intervalMs : backOff(this.#failures, again));
    this.#asking = undefined;
    const isNews = this.#failed ? this.#failed.message !== before : before !== undefined || !isSame;
    if (isNews && !this.#isAwaited && !signal.aborted) this.#changed?.();
  }
}

// --- internal ---

/** How long the first scan waits, with a copy and without. */
const WAIT_MS = 1_000;
const FIRST_COPY_MS = 10_000;
/** For one skill that somebody waits for. */
const READ_MS = 30_000;
/** Longest retry delay in milliseconds, unless the interval is longer. */
const MAX_MS = 900_000;
/** Between two questions of one who follows. */
const PAUSE_MS = 150;
/** Before it looks again whether the secret may be sent. */
const MAX_PAUSE_MS = 5_000;

const STILL_FETCHING =
  'The list of its skills is still being fetched, so none are shown yet. What has come is kept: the next start goes on from there.';

type Failure = Pick<Problem, 'code' | 'message'> & { readonly at: number };

function failureOf(error: unknown): Failure {
  const at = Date.now();
  const isOfPage = isCodedError(error, 'ORIGIN_UNAVAILABLE') || isCodedError(error, 'ORIGIN_REFUSED');
  if (isOfPage) return { code: error.code, message: error.message, at };
  const message = `The copy cannot be written: ${describeError(error)}. Remove the cause; the next look tries again.`;
  return { code: 'SOURCE_FAILED', message, at };
}

function problemOf({ code, message }: Failure, url: string, answered: string | undefined): Problem {
  const effect =
    answered === undefined
      ? 'There is no copy of its skills on this machine, so none are shown; it is asked again from time to time.'
      : `Its skills are used as they were when it last answered, on ${answered}.`;
  const severity = answered !== undefined && code === 'ORIGIN_UNAVAILABLE' ? 'warning' : 'error';
  return { code, severity, file: url, message: `${message.replace(/(?<![.?])$/, '.')} ${effect}` };
}
