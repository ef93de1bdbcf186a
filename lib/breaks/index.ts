/** How long work runs without a break, in milliseconds. */
const SLICE_MS = 8;

/**
 * Lets other work of the process run during long synchronous work: await it between steps. Synchronous reads take a twentieth of the
 * time of asynchronous ones, but they block the process.
 *
 * All that take breaks share one slice of 8 ms in each turn of the event loop: pieces of work that follow each other, that are
 * nested or that run at once hold a turn no longer than one alone.
 */
export async function takeBreak(): Promise<void> {
  if (performance.now() < endOfSlice()) return;
  await new Promise<void>((resolve) => waiting.push(resolve));
}

/** @returns `takeBreak`. */
export function createBreaks(): () => Promise<void> {
  return takeBreak;
}

/** Calls `each` with every item, and takes a break before every hundredth. */
export async function eachWithBreaks<T>(items: Iterable<T>, each: (item: T) => void): Promise<void> {
  let count = 0;
  for (const item of items) {
    if (++count % ITEMS_OF_A_STEP === 0) await takeBreak();
    each(item);
  }
}

/** Work in short steps. What it returns is complete after the last one. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** One step for every so many items. */
const ITEMS_OF_A_STEP = 100;

/** Calls `each` with every item, in steps. */
export function* eachInSteps<T>(items: Iterable<T>, each: (item: T) => void): Steps<void> {
  let count = 0;
  for (const item of items) {
    if (++count % ITEMS_OF_A_STEP === 0) yield;
    each(item);
  }
}

/** Runs work that is written in steps to its end, with a break between two of them. @returns what it returns. */
export async function takeSteps<T>(
  steps: Iterator<undefined, T, undefined>,
  takeBreak: () => Promise<void>,
): Promise<T> {
  for (;;) {
    await takeBreak();
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Runs work that is written in steps to its end, without breaks. @returns what it returns. */
export function runSteps<T>(steps: Iterator<undefined, T, undefined>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

// --- internal ---

/** When the slice of this turn ends; undefined when nobody has worked in it. */
let sliceEnds: number | undefined;
const waiting: (() => void)[] = [];

function endOfSlice(): number {
  if (sliceEnds === undefined) {
    sliceEnds = performance.now() + SLICE_MS;
    setImmediate(nextTurn);
  }
  return sliceEnds;
}

/** One goes on in each turn, the one that has waited longest. */
function nextTurn(): void {
  sliceEnds = undefined;
  const next = waiting.shift();
  if (!next) return;
  endOfSlice();
  next();
}
