/**
 * One measurement of this package, in a process of its own: `node ours.mjs <what> <folder> <root>`. Prints JSON. Each time is
 * compared with its baseline, which is measured in the same process just before.
 */
import { createSkillRegistry } from '../dist/extensions/skill_registry/index.js';
import { readFloor, statFloor } from './floors.mjs';
import { median, percentile, timed } from './statistics.mjs';

const [, , what, folder, root] = process.argv;
const open = (cache, inspect = true) =>
  createSkillRegistry({ root, cache, inspect, config: { sources: [{ path: folder }] } });
/** As it is from the second start on: every content was inspected. */
const inspected = async () => {
  const registry = await open('disk');
  await registry.admin.inspectSkills();
  return registry;
};

const measurements = {
  /** The first load of a process, and later ones; without a cache, and without the inspection. */
  async first() {
    return pairs(
      3,
      () => readFloor(folder),
      () => open('memory', false),
    );
  },
  async cached() {
    await (await inspected()).close();
    return pairs(
      5,
      () => statFloor(folder),
      () => open('disk'),
    );
  },
  async refresh() {
    const registry = await inspected();
    return pairs(
      7,
      () => statFloor(folder),
      () => registry.refresh(),
      false,
    );
  },
  async context() {
    const registry = await inspected();
    const prompts = ['review the invoice report', 'deploy docker to the cloud', 'translate the meeting notes'];
    const work = (index) => registry.context(`${prompts[index % 3]} ${index}`);
    return { ms: await settled(registry, work) };
  },
  async search() {
    const registry = await inspected();
    const queries = ['audit budget', 'kubernetes deploy', 'python test schema', 'invoice'];
    return { ms: await settled(registry, (index) => registry.list({ query: queries[index % 4] })) };
  },
  /** Resident and heap bytes that the catalog takes; the tokenizer is not loaded. */
  async memory() {
    const settle = async () => {
      for (let round = 0; round < 3; round++) {
        globalThis.gc?.();
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return process.memoryUsage();
    };
    await (await inspected()).close();
    const before = await settle();
    const registry = await open('disk');
    const after = await settle();
    const skills = registry.snapshot().skills.length;
    return { skills, rss: after.rss - before.rss, heap: after.heapUsed - before.heapUsed };
  },
};

async function pairs(count, floor, work, closes = true) {
  const [floors, ours] = [[], []];
  let skills = 0;
  for (let round = 0; round < count; round++) {
    floors.push((await timed(floor)).ms);
    const { ms, value } = await timed(work);
    ours.push(ms);
    skills = (value.snapshot?.() ?? value).skills.length;
    if (closes) await value.close();
  }
  const again = (values) => median(values.slice(1));
  return { skills, first: ours[0] / floors[0], firstMs: ours[0], again: again(ours) / again(floors), ms: again(ours) };
}

/** Times in a process that has run for a while: the index is complete, and the function was called before. */
async function settled(registry, work) {
  await registry.admin.searchReady();
  await times(20, work);
  return times(200, work);
}

async function times(count, work) {
  const all = [];
  for (let index = 0; index < count; index++) all.push((await timed(() => work(index))).ms);
  return { p50: median(all), p95: percentile(all, 0.95) };
}

console.log(JSON.stringify(await measurements[what]()));
process.exit(0);
