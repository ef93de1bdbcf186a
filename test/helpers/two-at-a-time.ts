/** Does this with each, and with two of them at once: most of it is waiting for processes, and the machines of tests have two cores. */
export async function twoAtATime<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item);
  };
  await Promise.all([work(), work()]);
}
