const SLICE_MS = 8;

/** @param what - For work that is only a part of what somebody waits for. */
type HowFar = (done: number, total: number, what?: string) => void;
let told: HowFar = () => {};

/** Where a person waits for the work of this process. Without an argument nobody does any more. */
export function hearHowFar(tell: HowFar = () => {}): void {
  told = tell;
}

/** In work without breaks; `takeBreak` tells it, too. */
export const tellHowFar: HowFar = (...howFar) => told(...howFar);

/**
 * Await it between steps of long synchronous work, so that other work can run. All callers share one slice of 8 ms per
 * turn of the event loop. Synchronous reads take a twentieth of the time of asynchronous ones.
 *
 * @param howFar - For whoever waits: what is done, of how many, and what it is.
 */
export async function takeBreak(...howFar: [] | Parameters<HowFar>): Promise<void> {
  if (howFar.length !== 0) told(...howFar);
  if (!isTimeForBreak()) return;
  await new Promise<void>((resolve) => waiting.push(resolve));
}

/** Breaks of one long work. `tell` gets its processor time so far in milliseconds, without that of others meanwhile. */
export function createMeteredBreaks(tell: (spentMs: number) => void): () => Promise<void> {
  let [spent, since] = [0, processorMs()];
  return async () => {
    if (performance.now() < endOfSlice()) return;
    spent += processorMs() - since;
    tell(spent);
    await takeBreak();
    since = processorMs();
  };
}

/** Takes a break before every hundredth item. */
export async function eachWithBreaks<T>(items: Iterable<T>, each: (item: T) => void): Promise<void> {
  let count = 0;
  for (const item of items) {
    if (++count % ITEMS_OF_A_STEP === 0) await takeBreak();
    each(item);
  }
}

export type Steps<T> = Generator<undefined, T, undefined>;

const ITEMS_OF_A_STEP = 100;

export function* eachInSteps<T>(items: Iterable<T>, each: (item: T) => void): Steps<void> {
  let count = 0;
  for (const item of items) {
    if (++count % ITEMS_OF_A_STEP === 0) yield;
    each(item);
  }
}

/** Takes a break before a step where it is time for one: no other step waits for a promise. */
export async function takeSteps<T>(steps: Iterator<undefined, T, undefined>, pause?: () => Promise<void>): Promise<T> {
  for (;;) {
    if (isTimeForBreak()) await (pause ?? takeBreak)();
    const step = steps.next();
    if (step.done) return step.value;
  }
}

export function runSteps<T>(steps: Iterator<undefined, T, undefined>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

// --- internal ---

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Undefined: nothing has run in this turn. */
let sliceEnds: number | undefined;
const waiting: (() => void)[] = [];

function isTimeForBreak(): boolean {
  return performance.now() >= endOfSlice();
}

function endOfSlice(): number {
  if (sliceEnds === undefined) {
    sliceEnds = performance.now() + SLICE_MS;
    setImmediate(nextTurn);
  }
  return sliceEnds;
}

/** One waiter continues in each turn, in order of arrival. */
function nextTurn(): void {
  sliceEnds = undefined;
  const next = waiting.shift();
  if (!next) return;
  endOfSlice();
  next();
}
