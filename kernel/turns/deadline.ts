export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/** Rejects with a DeadlineError after `ms` milliseconds. The work continues, but its result is ignored. */
export function withDeadline<T>(work: T | PromiseLike<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DeadlineError(`did not settle within ${ms} ms`)), ms);
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

/** Rejects when `signal` aborts. The work continues, but its result is ignored. */
export function untilAborted<T>(work: T | PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}
