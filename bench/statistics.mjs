/** The median of several measurements. */
export function median(values) {
  return percentile(values, 0.5);
}

/** @param {readonly number[]} values @param {number} share 0-1 */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** The milliseconds that `work` takes, and its result. */
export async function timed(work) {
  const startedAt = performance.now();
  const value = await work();
  return { ms: performance.now() - startedAt, value };
}
