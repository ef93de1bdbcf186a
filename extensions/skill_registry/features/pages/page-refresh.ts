import { type CodedError, describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import type { OriginHeaders } from '../../../../lib/fetch/index.ts';
import { abortAfter, aborted, backOff, settledWithin } from '../../../../lib/waiting/index.ts';
import type { DirectorySourceOptions } from '../../core/sources/kinds/directory-source.ts';
import type { SecretHeaders } from '../install/secret-headers.ts';
import type { IndexEntry } from './page-index.ts';
import {
  type CopiedSkill,
  copyKey,
  damagedSkills,
  type FetchCopy,
  type FetchSkill,
  fetchedSkills,
  isOfSkill,
  type KnownCopy,
  type PageCopy,
  readCopy,
  statsOfCopy,
} from './well-known-copy.ts';

export interface WellKnownSourceOptions extends Pick<DirectorySourceOptions, 'cache' | 'id' | 'profile'> {
  /** Default: `well-known`. */
  readonly kind?: string;
  readonly url: string;
  /** Milliseconds before the page is asked again. */
  readonly intervalMs: number;
  /** The longest retry delay in milliseconds. Default: 15 minutes, or `intervalMs` if that is longer. */
  readonly maxMs?: number;
  /** Beside its own. Default: none. */
  readonly moreProblems?: (copy: PageCopy | undefined) => readonly Problem[];
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
  #known: KnownCopy | undefined;
  #opened: OpenedCopy = NO_COPY;
  /** Stats of the journal that `fetched` was read from. */
  #journal = '';
  /** What the last scan has seen, or was told of. */
  #told: PageCopy | undefined;
  #changed: ((names?: readonly string[]) => void) | undefined;
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
    const copy = this.#read();
    this.#told = copy;
    if (!copy) return NO_COPY;
    const answeredAt = statsOfCopy(folder)?.mtimeMs ?? 0;
    const stats = statsOfCopy(folder, 'fetched.jsonl');
    const journal = `${stats?.ino} ${stats?.size}`;
    if (copy === this.#opened.copy && journal === this.#journal) this.#opened = { ...this.#opened, answeredAt };
    else {
      this.#journal = journal;
      this.fetched.clear();
      for (const one of fetchedSkills(folder)) this.fetched.set(copyKey(one), one);
      const { entries } = copy;
      const come = entries.flatMap((entry) => this.fetched.get(copyKey(entry)) ?? []);
      const here = [...copy.skills, ...come];
      const away = come.length === 0 ? entries : entries.filter((entry) => !this.fetched.has(copyKey(entry)));
      this.#opened = { copy, here, away, answeredAt, damaged: new Set(await damagedSkills(folder, here)) };
    }
    return this.#opened;
  }

  #read(): PageCopy | undefined {
    this.#known = readCopy(this.#options.folder, this.#known);
    return this.#known?.copy;
  }

  /** As it is now. Undefined where the whole skill is here, or there is none. */
  entry(name: string): IndexEntry | undefined {
    return this.#known?.copy.entries.find((one) => one.name === name);
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

  /** @param changed - Gets the names of skills whose entries are others now; without an argument, more has changed. */
  subscribe(changed: (names?: readonly string[]) => void): () => void {
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
    // Another process may have heard what nobody here was told.
    const waits = this.#read() === this.#told && waiting !== undefined;
    const asked = { url, folder, before: this.#known, damaged, signal, waits, headers: this.#headers };
    let isComplete = false;
    this.#isOutdated = false;
    try {
      const { fetchCopy } = await fetching();
      isComplete = await fetchCopy(asked);
      this.#failed = undefined;
    } catch (error) {
      if (!signal.aborted) this.#failed = failureOf(error);
    }
    this.#failures = isComplete ? 0 : this.#failures + 1;
    const again = { firstMs: intervalMs, maxMs: Math.max(intervalMs, maxMs), jitter: true };
    this.#notBefore = Date.now() + (isComplete ? intervalMs : backOff(this.#failures, again));
    this.#asking = undefined;
    if (this.#isAwaited || signal.aborted) return;
    const told = this.#told;
    this.#told = this.#read();
    const names = changedNames(told, this.#told);
    if (this.#failed?.message !== before || !names) this.#changed?.();
    else if (names.length > 0) this.#changed?.(names);
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

/** Undefined when the copies differ in more than some entries. */
function changedNames(before: PageCopy | undefined, now: PageCopy | undefined): readonly string[] | undefined {
  if (before === now) return [];
  if (!before || !now || before.skills !== now.skills || before.entries.length !== now.entries.length) return undefined;
  const others = now.entries.filter((entry, at) => entry !== before.entries[at]);
  const isSameList = now.entries.every(({ name }, at) => name === before.entries[at]?.name);
  return isSameList ? others.map(({ name }) => name) : undefined;
}

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
