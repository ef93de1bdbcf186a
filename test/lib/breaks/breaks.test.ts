import { describe, expect, it } from 'vitest';
import { takeBreak } from '../../../lib/breaks/index.ts';

/** Works without giving the event loop a turn, as synchronous reads do. @param steps - Each takes about 3 ms. */
async function work(steps: number, done: () => void): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await takeBreak();
    const until = performance.now() + 3;
    while (performance.now() < until);
    done();
  }
}

/** How many steps each turn of the event loop held, until what `start` gives has ended. */
async function stepsPerTurn(start: (done: () => void) => Promise<unknown>): Promise<readonly number[]> {
  const turns: number[] = [];
  let [steps, isRunning] = [0, true];
  const count = (): void => {
    turns.push(steps);
    steps = 0;
    if (isRunning) setImmediate(count);
  };
  // The turn that ends the slice of the test before: else it would begin another one within the first turn that is counted.
  await new Promise((resolve) => setImmediate(resolve));
  // Before the work asks for its first turn: else the beginning and that turn would count as one.
  setImmediate(count);
  await start(() => steps++);
  isRunning = false;
  count();
  return turns;
}

// A slice is 8 ms: two or three steps of 3 ms, and the one that ends it.
const MAX_STEPS = 4;

describe('breaks', () => {
  it('lets one slice run in each turn, however many pieces of work follow each other', async () => {
    const turns = await stepsPerTurn(async (done) => {
      // Each alone is shorter than a slice.
      for (let piece = 0; piece < 12; piece++) await work(2, done);
    });
    expect(turns.reduce((sum, steps) => sum + steps, 0)).toBe(24);
    expect(Math.max(...turns)).toBeLessThanOrEqual(MAX_STEPS);
  });

  it('lets one slice run in each turn, however many work at once, and each of them ends', async () => {
    const turns = await stepsPerTurn((done) => Promise.all(Array.from({ length: 6 }, () => work(6, done))));
    expect(turns.reduce((sum, steps) => sum + steps, 0)).toBe(36);
    expect(Math.max(...turns)).toBeLessThanOrEqual(MAX_STEPS + 6);
  });
});
