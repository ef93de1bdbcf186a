import { expect, it } from 'vitest';
import { backOff } from '../../../lib/waiting/index.ts';

const LIMITS = { firstMs: 1000, longestMs: 60_000 };

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
