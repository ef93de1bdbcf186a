/** One machine of bench/pages.mjs: reads the page at an address, and tells what each step took. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fetchCopy } from '../dist/extensions/skill_registry/features/pages/fetch-copy.js';
import { createSkillRegistry } from '../dist/extensions/skill_registry/index.js';
import { timed } from './statistics.mjs';

const [url, cache, count, changed, kind] = process.argv.slice(2);
const FOLDER = '/.well-known/agent-skills';

/** Resident memory in bytes while the registry was last open. */
let rss = 0;

if (kind === 'first') {
  const all = await documents();
  const bareFirst = await cpuOf(() => get(all));
  await tell({});
  await tell({ phase: 'first', result: { ms: await cpuOf(open), bareMs: bareFirst, rss } });
  await tell({ phase: 'again', result: { ms: await cpuOf(open), bareMs: bareFirst, rss } });
  await tell({ phase: 'body', result: await oneBody() });
} else await open();

const { path: head } = await headOf();
const { headers } = await fetch(url + head);
const bareNothing = await cpuOf(() => fetch(url + head, { headers: { 'if-none-match': headers.get('etag') } }));
await tell({});
await tell({ phase: 'nothing', result: { ms: await cpuOf(refresh), bareMs: bareNothing, rss } });

await tell({ change: true });
const bareOne = await cpuOf(() => get(JSON.parse(changed)));
await tell({});
await tell({ phase: 'one', result: { ms: await cpuOf(refresh), bareMs: bareOne, rss } });
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
  rss = process.memoryUsage.rss();
  await registry.close();
}

/** The registry is open, and an agent reads a skill that nobody has read here. */
async function oneBody() {
  const registry = await createSkillRegistry({ root: cache, config: { sources: [{ wellKnown: url }] } });
  await tell({});
  const ms = await cpuOf(() => registry.read('skill-00011', {}, { agentId: 'cook' }));
  rss = process.memoryUsage.rss();
  await registry.close();
  return { ms, bareMs: await cpuOf(() => fetch(url)), rss };
}

/** What a running registry does when the interval has passed. */
async function refresh() {
  const pages = join(cache, 'skill-registry/pages');
  const folder = join(pages, readdirSync(pages)[0]);
  const { signal } = new AbortController();
  await fetchCopy({ url, folder, damaged: new Set(), signal });
}

/** Gets the bytes alone, eight at a time. */
async function get(paths) {
  const queue = paths.values();
  const work = async () => {
    for (const path of queue) await (await fetch(url + path)).arrayBuffer();
  };
  await Promise.all(Array.from({ length: 8 }, work));
}

/** The document that is asked for at each look: the head of the parts, or the index. */
async function headOf() {
  for (const path of [`${FOLDER}/index-parts.json`, `${FOLDER}/index.json`]) {
    const answer = await fetch(url + path);
    const text = await answer.text();
    if (answer.ok) return { path, ...JSON.parse(text) };
  }
  throw new Error('no page');
}

/** The paths of everything that a first copy needs: of a page with more than 200 skills no artifact. */
async function documents() {
  const { path, parts = [] } = await headOf();
  return [path, ...parts.map(({ digest }) => `${FOLDER}/parts/${digest.slice('sha256:'.length)}.json`)];
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
