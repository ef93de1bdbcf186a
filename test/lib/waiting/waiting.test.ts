import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { abortAfter, backOff } from '../../../lib/waiting/index.ts';

const LIMITS = { firstMs: 1000, maxMs: 60_000 };

it('waits twice as long after each failure, and never longer than the longest wait', () => {
  const waits = [1, 2, 3, 6, 7, 8, 5000].map((failures) => backOff(failures, LIMITS));
  expect(waits).toEqual([1000, 2000, 4000, 32_000, 60_000, 60_000, 60_000]);
});

it('does not wait where the first wait is 0', () => {
  expect([1, 2, 1023].map((failures) => backOff(failures, { ...LIMITS, firstMs: 0 }))).toEqual([0, 0, 0]);
});

it('with jitter, waits at random between half of that and all of it', () => {
  for (const failures of [1, 3, 100]) {
    const whole = backOff(failures, LIMITS);
    const waits = Array.from({ length: 200 }, () => backOff(failures, { ...LIMITS, jitter: true }));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(whole / 2);
    expect(Math.max(...waits)).toBeLessThanOrEqual(whole);
    expect(new Set(waits).size).toBeGreaterThan(100);
  }
});

it('ends what waits when the time is over, though memory was cleared meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  const clear: () => void = runInNewContext('gc');
  const ended = new Promise<string>((resolve) => {
    const signal = abortAfter(300, new AbortController().signal);
    signal.addEventListener('abort', () => resolve(signal.reason.name));
  });
  const cleared = setInterval(clear, 20);
  const never = new Promise<string>((resolve) => void setTimeout(resolve, 5_000, 'never'));
  expect(await Promise.race([ended, never])).toBe('TimeoutError');
  clearInterval(cleared);
});

it('ends with the signal of somebody else, for the reason of that', () => {
  const other = new AbortController();
  const signal = abortAfter(60_000, undefined, other.signal);
  other.abort('closed');
  expect([signal.aborted, signal.reason]).toEqual([true, 'closed']);
});
