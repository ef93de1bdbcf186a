/** Longest stretch of uninterrupted work, in milliseconds. */
const SLICE_MS = 8;
/** For work that nobody waits for. */
const BACKGROUND = { sliceMs: 2, restMs: 10 } as const;

/**
 * Lets other work of the process run between slices of a long one: synchronous reads are twenty times faster than awaited
 * ones, as long as nobody waits for them.
 *
 * @returns call it between steps; it takes a break only when the slice is used up.
 */
export function createPace(): () => Promise<void> {
  return paceOf(SLICE_MS, () => new Promise((resolve) => setImmediate(resolve)));
}

/** As `createPace`, for work that nobody waits for: most of the time goes to others. */
export function createBackgroundPace(): () => Promise<void> {
  const { sliceMs, restMs } = BACKGROUND;
  return paceOf(sliceMs, () => new Promise((resolve) => setTimeout(resolve, restMs).unref()));
}

// --- internal ---

function paceOf(sliceMs: number, rest: () => Promise<void>): () => Promise<void> {
  let sliceEnds = performance.now() + sliceMs;
  return async () => {
    if (performance.now() < sliceEnds) return;
    await rest();
    sliceEnds = performance.now() + sliceMs;
  };
}
