export interface BackOff {
  /** Delay after the first failure, in milliseconds. */
  readonly firstMs: number;
  /** The longest delay, in milliseconds. */
  readonly maxMs: number;
  /** Shorten the delay at random, by up to a half, so that several processes do not retry at the same time. Default: false. */
  readonly jitter?: boolean;
}

/**
 * The delay before the next attempt, in milliseconds. It doubles with each failure.
 *
 * @param failures - Failed attempts in a row, 1 or more.
 */
export function backOff(failures: number, { firstMs, maxMs, jitter = false }: BackOff): number {
  const ms = Math.min(firstMs * 2 ** (failures - 1), maxMs);
  return jitter ? ms * (0.5 + Math.random() / 2) : ms;
}

/**
 * A signal that aborts after `ms` (its reason is a `TimeoutError`), and with each of `others`. It keeps no process running.
 *
 * AbortSignal.any of AbortSignal.timeout is not the same: Node 20 forgets a time limit that only AbortSignal.any holds.
 */
export function abortAfter(ms: number, ...others: readonly (AbortSignal | undefined)[]): AbortSignal {
  const limit = new AbortController();
  const signal = AbortSignal.any([limit.signal, ...others.filter((other) => other !== undefined)]);
  // The timer keeps both signals alive until then.
  const expire = (): void => {
    if (!signal.aborted) limit.abort(new DOMException(`Not finished within ${ms / 1000} s`, 'TimeoutError'));
  };
  setTimeout(expire, ms).unref();
  return signal;
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
}
