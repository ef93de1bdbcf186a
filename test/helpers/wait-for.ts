/** As they are here: a test may put the clock of this process forward. */
const { setTimeout, performance } = globalThis;

/**
 * Waits until `condition` gives something truthy and returns that.
 *
 * @param deadlineMs - Rejects after this long, saying what was waited for: when something is broken, not when it is slow.
 *   Default: 30,000.
 */
export async function waitFor<T>(
  what: string | (() => string),
  condition: () => T | Promise<T>,
  deadlineMs = 30_000,
): Promise<NonNullable<T>> {
  const until = performance.now() + deadlineMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > until) {
      throw new Error(`waited ${deadlineMs} ms in vain for ${typeof what === 'string' ? what : what()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
