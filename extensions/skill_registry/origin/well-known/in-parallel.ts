/** Artifacts or parts that are fetched at the same time. */
const AT_ONCE = 8;

/** Calls `use` for each item. The first failure ends the others and is thrown. */
export async function inParallel<T>(
  items: readonly T[],
  signal: AbortSignal,
  use: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = new AbortController();
  const ended = AbortSignal.any([signal, failed.signal]);
  const queue = items.values();
  const work = async (): Promise<void> => {
    for (const item of queue) {
      if (ended.aborted) return;
      await use(item, ended);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } catch (error) {
    failed.abort();
    throw error;
  }
  signal.throwIfAborted();
}
