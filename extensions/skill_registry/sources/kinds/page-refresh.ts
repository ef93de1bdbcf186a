import { describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import { backOff } from '../../../../lib/waiting/index.ts';
import type { FetchCopy } from './well-known-copy.ts';

export interface PageRefreshOptions {
  /** The page below which `.well-known/agent-skills/index.json` is; no slash at its end. */
  readonly url: string;
  /** Where the copy is kept, absolute (`copyFolder`). Processes may share it. */
  readonly folder: string;
  /** How long the copy is used before the page is asked again, in milliseconds. */
  readonly intervalMs: number;
  /** No problem is reported while there is no copy. Default: false. */
  readonly optional: boolean;
  readonly fetchCopy: FetchCopy;
  /** Called with the progress of fetching, when that takes more than a second. */
  readonly onProgress: (line: string) => void;
}

/** When a page is asked, and what came of it. */
export interface PageRefresh {
  /** Asks when it is time to. Waits for the answer only the first time. */
  refreshIfDue(copy: CopyState): Promise<void>;
  problems(copy: Pick<CopyState, 'isThere' | 'answeredAt'>): readonly Problem[];
  subscribe(changed: () => void): () => void;
}

/** What is known of the copy. */
export interface CopyState {
  readonly isThere: boolean;
  /** When the page last answered that the copy is what it has, in milliseconds since the epoch; 0 without a copy. */
  readonly answeredAt: number;
  /** Digests of copied skills that are to be fetched again. */
  readonly damaged: ReadonlySet<string>;
}

export function createPageRefresh(options: PageRefreshOptions): PageRefresh {
  const { url, folder, intervalMs, optional, fetchCopy, onProgress } = options;
  const ended = new AbortController();
  let changed: (() => void) | undefined;
  let asking: Promise<void> | undefined;
  let isFirst = true;
  /** A scan waits for the answer, and shows what came of it. */
  let isAwaited = false;
  let failed: Failure | undefined;
  let failures = 0;
  let notBefore = 0;

  const ask = async (damaged: ReadonlySet<string>): Promise<void> => {
    const before = failed?.message;
    let isComplete = false;
    try {
      ({ isComplete } = await fetchCopy({ url, folder, damaged, signal: ended.signal, onProgress }));
      failed = undefined;
    } catch (error) {
      failed = failureOf(error);
    }
    failures = isComplete ? 0 : failures + 1;
    const maxMs = Math.max(intervalMs, MAX_MS);
    notBefore =
      Date.now() + (isComplete ? intervalMs : backOff(failures, { firstMs: intervalMs, maxMs, jitter: true }));
    asking = undefined;
    const isNews = failed === undefined || failed.message !== before;
    if (isNews && !isAwaited && !ended.signal.aborted) changed?.();
  };
  return {
    async refreshIfDue({ isThere, answeredAt, damaged }) {
      const now = Date.now();
      const isOld = !isThere || damaged.size > 0 || Math.abs(now - answeredAt) >= intervalMs;
      if (isOld && asking === undefined && now >= notBefore && !ended.signal.aborted) asking = ask(damaged);
      if (asking !== undefined && isFirst) {
        isAwaited = true;
        await settledWithin(asking, isThere ? WAIT_MS : FIRST_COPY_MS);
        isAwaited = false;
      }
      isFirst = false;
    },
    problems({ isThere, answeredAt }) {
      if (!isThere && asking !== undefined) return [stillFetching(url)];
      if (!failed || failed.at < answeredAt || (!isThere && optional)) return [];
      return [problemOf(failed, url, isThere ? new Date(answeredAt).toISOString() : undefined)];
    },
    subscribe(listener) {
      changed = listener;
      return () => {
        changed = undefined;
        ended.abort();
      };
    },
  };
}

// --- internal ---

/** How long the first scan waits for an answer while there is a copy, and while there is none. */
const WAIT_MS = 1_000;
const FIRST_COPY_MS = 10_000;
/** The longest time between two attempts, in milliseconds; longer intervals stay as they are. */
const MAX_MS = 900_000;

interface Failure {
  readonly code: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

function failureOf(error: unknown): Failure {
  const isOfPage = isCodedError(error, 'ORIGIN_UNAVAILABLE') || isCodedError(error, 'ORIGIN_REFUSED');
  if (isOfPage) return { code: error.code, message: error.message, at: Date.now() };
  return {
    code: 'SOURCE_FAILED',
    message: `The copy cannot be written: ${describeError(error)}. Remove the cause; the next look tries again.`,
    at: Date.now(),
  };
}

function problemOf({ code, message }: Failure, url: string, answered: string | undefined): Problem {
  const effect =
    answered === undefined
      ? 'There is no copy of its skills on this machine, so none are shown; it is asked again from time to time.'
      : `Its skills are used as they were when it last answered, on ${answered}.`;
  const severity = answered !== undefined && code === 'ORIGIN_UNAVAILABLE' ? 'warning' : 'error';
  return { code, severity, file: url, message: `${message.replace(/(?<![.?])$/, '.')} ${effect}` };
}

function stillFetching(url: string): Problem {
  const message =
    'The first copy of its skills is still being fetched, so none are shown yet. What has come is kept: the next start goes on from there.';
  return { code: 'ORIGIN_UNAVAILABLE', severity: 'warning', file: url, message };
}

async function settledWithin(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
