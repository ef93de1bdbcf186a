export interface BackOff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Shortens the delay at random by up to a half: several processes retry at different times. Default: false. */
  readonly jitter?: boolean;
}

/** Doubles with each failure; in milliseconds. @param failures - In a row, 1 or more. */
export function backOff(failures: number, { firstMs, maxMs, jitter = false }: BackOff): number {
  const ms = Math.min(firstMs * 2 ** (failures - 1), maxMs);
  return jitter ? ms * (0.5 + Math.random() / 2) : ms;
}

/** Nothing else runs in this thread meanwhile: for what must be done at once, as SQLite waits for a lock. */
export function waitInThread(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Does not keep the process running. Not AbortSignal.timeout: Node 20 forgets one that only AbortSignal.any holds. */
export function abortAfter(ms: number, ...others: readonly (AbortSignal | undefined)[]): AbortSignal {
  const limit = new AbortController();
  const signal = AbortSignal.any([limit.signal, ...others.filter((other) => other !== undefined)]);
  const expire = (): void => {
    if (!signal.aborted) limit.abort(new DOMException(`Not finished within ${ms / 1000} s`, 'TimeoutError'));
  };
  setTimeout(expire, ms).unref();
  return signal;
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
}

/** Waits at most that many milliseconds. `work` must not reject. */
export async function settledWithin(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms));
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
