/** One machine of bench/pages.mjs: reads the page at an address, and tells what each step took. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fetchCopy } from '../dist/extensions/skill_registry/features/pages/fetch-copy.js';
import { createSkillRegistry } from '../dist/extensions/skill_registry/index.js';
import { timed } from './statistics.mjs';

const [url, cache, count, changed, kind] = process.argv.slice(2);
const INDEX = '/.well-known/agent-skills/index.json';

if (kind === 'first') {
  const all = await artifacts();
  const bareFirst = await cpuOf(() => get(all));
  await tell({});
  await tell({ phase: 'first', result: { ms: await cpuOf(open), bareMs: bareFirst } });
  await tell({ phase: 'again', result: { ms: await cpuOf(open), bareMs: bareFirst } });
} else await open();

const { headers } = await fetch(url + INDEX);
const bareNothing = await cpuOf(() => fetch(url + INDEX, { headers: { 'if-none-match': headers.get('etag') } }));
await tell({});
await tell({ phase: 'nothing', result: { ms: await cpuOf(refresh), bareMs: bareNothing } });

await tell({ change: true });
const bareTen = await cpuOf(() => get(JSON.parse(changed)));
await tell({});
await tell({ phase: 'ten', result: { ms: await cpuOf(refresh), bareMs: bareTen } });
await open();
// Connections that a bare request has left open would keep it running.
process.exit();

/** A process starts to read the page, until its registry has all skills. */
async function open() {
  const registry = await createSkillRegistry({ root: cache, config: { sources: [{ wellKnown: url }] } });
  while (registry.snapshot().skills.length < Number(count)) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    await registry.refresh();
  }
  // What the first 5 seconds were too short for.
  await registry.admin.inspectSkills();
  const problems = registry.problems();
  if (problems.length > 0) throw new Error(JSON.stringify(problems.slice(0, 3)));
  await registry.close();
}

/** What a running registry does when the interval has passed. */
async function refresh() {
  const pages = join(cache, 'skill-registry/pages');
  const folder = join(pages, readdirSync(pages)[0]);
  const { signal } = new AbortController();
  await fetchCopy({ url, folder, damaged: new Set(), signal, onProgress: () => undefined });
}

/** Gets the bytes alone, eight at a time. */
async function get(paths) {
  const queue = paths.values();
  const work = async () => {
    for (const path of queue) await (await fetch(url + path)).arrayBuffer();
  };
  await Promise.all(Array.from({ length: 8 }, work));
}

async function artifacts() {
  const { skills } = await (await fetch(url + INDEX)).json();
  return [INDEX, ...skills.map((skill) => new URL(skill.url, url + INDEX).pathname)];
}

/** Processor time of this process in milliseconds: the machines share one computer. */
async function cpuOf(work) {
  return (await timed(work)).cpu;
}

/** Tells the server that a step is over, and waits until it has counted it. */
function tell(message) {
  return new Promise((resolve) => {
    process.once('message', resolve);
    process.send(message);
  });
}
