/**
 * Waits until `condition` gives something truthy and returns that.
 *
 * @param deadlineMs - Rejects after this long, saying what was waited for.
 */
export async function waitFor<T>(
  what: string,
  condition: () => T | Promise<T>,
  deadlineMs = 5000,
): Promise<NonNullable<T>> {
  const until = performance.now() + deadlineMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > until) throw new Error(`waited ${deadlineMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
