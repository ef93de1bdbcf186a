/** How long work runs without a break, in milliseconds. */
const SLICE_MS = 8;
/** The same for background work, and how long each break is. */
const BACKGROUND = { sliceMs: 2, pauseMs: 10 } as const;

/**
 * Lets other work of the process run during long synchronous work. Synchronous reads take a twentieth of the time of
 * asynchronous ones, but they block the process.
 *
 * @returns Await it between steps. It yields to the event loop when the last break was 8 ms ago or more.
 */
export function createBreaks(): () => Promise<void> {
  return breaksAfter(SLICE_MS, () => new Promise((resolve) => setImmediate(resolve)));
}

/** As `createBreaks`, for background work: a break of 10 ms after each 2 ms of work. */
export function createBackgroundBreaks(): () => Promise<void> {
  const { sliceMs, pauseMs } = BACKGROUND;
  return breaksAfter(sliceMs, () => new Promise((resolve) => setTimeout(resolve, pauseMs).unref()));
}

/** Runs work that is written in steps to its end, without breaks. @returns what it returns. */
export function runSteps<T>(steps: Iterator<undefined, T, undefined>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

// --- internal ---

function breaksAfter(sliceMs: number, pause: () => Promise<void>): () => Promise<void> {
  let sliceEnds = performance.now() + sliceMs;
  return async () => {
    if (performance.now() < sliceEnds) return;
    await pause();
    sliceEnds = performance.now() + sliceMs;
  };
}
