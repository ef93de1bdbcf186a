export interface BackOff {
  /** The wait after the first failure, in milliseconds. */
  readonly firstMs: number;
  /** No wait is longer, in milliseconds. */
  readonly longestMs: number;
  /** Shorter by up to a half, at random, so that several processes do not try at the same moment. Default: false. */
  readonly jitter?: boolean;
}

/**
 * How long to wait before the next attempt, in milliseconds: twice as long after each failure.
 *
 * @param failures - How many attempts have failed in a row, 1 or more.
 */
export function backOff(failures: number, { firstMs, longestMs, jitter = false }: BackOff): number {
  const ms = Math.min(firstMs * 2 ** (failures - 1), longestMs);
  return jitter ? ms * (0.5 + Math.random() / 2) : ms;
}
