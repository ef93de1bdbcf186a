/** The median of several measurements. */
export function median(values) {
  return percentile(values, 0.5);
}

/** @param {readonly number[]} values @param {number} share 0-1 */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** What `work` takes in milliseconds, `cpu` of them processor time of this process, all threads together; and its result. */
export async function timed(work) {
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  const value = await work();
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(before);
  return { ms, cpu: (user + system) / 1000, value };
}

/**
 * Rounds of a measurement beside the rounds of its floor, by processor time: the first of a process, which has compiled nothing yet, and
 * the later ones.
 *
 * @param {readonly { ms: number, cpu: number }[]} floors
 * @param {readonly { ms: number, cpu: number }[]} rounds
 */
export function compared(floors, rounds) {
  const again = (all) => median(all.slice(1).map(({ cpu }) => cpu));
  const [[floor], [first]] = [floors, rounds];
  return {
    ...{ first: first.cpu / floor.cpu, firstMs: first.cpu, firstCpu: first.cpu, floorCpu: floor.cpu },
    ...{ again: again(rounds) / again(floors), ms: again(rounds) },
  };
}
