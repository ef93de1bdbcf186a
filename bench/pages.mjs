/**
 * `node bench/pages.mjs [machines] [skills] [first]`: many machines read one published page, of more than 10,000 skills in parts: the first
 * catalog, a skill that is read, a refresh with nothing changed, a refresh with one skill changed. Each machine is a process with a cache directory of its own; two run at a time. The first
 * copy is made by `first` of them; the others begin with a copy of what one of these had then. bench/README.md explains it.
 */
import { execFileSync, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSkillRegistry } from '../dist/extensions/skill_registry/index.js';
import { generateSkills } from './generate-skills.mjs';
import { percentile, timed } from './statistics.mjs';
import { printTable } from './table.mjs';

const MACHINES = Number(process.argv[2] ?? 100);
const SKILLS = Number(process.argv[3] ?? 5_000);
const FIRST = Math.min(MACHINES, Number(process.argv[4] ?? (SKILLS > 10_000 ? 1 : 4)));
const AT_ONCE = 2;
const MACHINE = fileURLToPath(new URL('page-machine.mjs', import.meta.url));
const PHASES = {
  first: 'first catalog / GET of the same bytes',
  again: 'start with the copy / GET of the same bytes',
  body: 'one skill is read, open before / GET of one document',
  nothing: 'refresh, nothing changed / GET with an ETag',
  one: 'refresh, one skill changed / GET of the same bytes',
};

const base = mkdtempSync(join(tmpdir(), 'skill-registry-pages-'));
try {
  const [before, after] = await publishTwice();
  const results = await runAll(before, after);
  printTable(rowsOf(results));
} finally {
  rmSync(base, { recursive: true, force: true });
}

/** @returns what a server serves before and after the change: bytes by path. */
async function publishTwice() {
  const skills = join(base, 'skills');
  generateSkills(skills, SKILLS);
  for (const [index, name] of readdirSync(skills).entries()) {
    if (index % 5 !== 0) continue;
    mkdirSync(join(skills, name, 'scripts'));
    writeFileSync(join(skills, name, 'scripts/run.sh'), `#!/bin/sh\necho ${name}\n`);
    chmodSync(join(skills, name, 'scripts/run.sh'), 0o755);
  }
  const registry = await createSkillRegistry({
    root: base,
    config: { sources: [{ path: 'skills' }] },
    cache: 'memory',
  });
  const publish = async () => {
    const { ms, value } = await timed(() => registry.origin.publish({ to: 'public' }));
    const changed = value.skills.filter((skill) => skill.changed).length;
    console.error(`published ${value.skills.length} skills, ${changed} of them new, in ${Math.round(ms)} ms`);
    return filesBelow(join(base, 'public'));
  };
  const before = await publish();
  appendFileSync(join(skills, 'skill-00007/SKILL.md'), '\nChanged.\n');
  const after = await publish();
  await registry.close();
  return [before, after];
}

function filesBelow(folder) {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    paths.map((path) => {
      const bytes = readFileSync(path);
      const etag = `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"`;
      return [path.slice(folder.length), { bytes, etag }];
    }),
  );
}

async function runAll(before, after) {
  const results = [];
  const queue = Array.from({ length: MACHINES }, (_, index) => index).values();
  const work = async (_, lane) => {
    // Its address is a part of what a copy is kept under, so machines that begin with the same copy have the same server.
    const served = await serverOf();
    for (const index of queue) {
      results.push(await runMachine(index, join(base, `copy-${lane}`), served, before, after));
      console.error(`machine ${results.length} of ${MACHINES}`);
    }
    served.server.close();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

/** A server that counts what is asked for. */
async function serverOf() {
  const served = { files: new Map(), count: nothing(), url: '', server: undefined };
  const server = createServer((request, response) => {
    const { files, count } = served;
    const path = new URL(request.url, 'http://localhost').pathname;
    const file = files.get(path);
    const isEntries = !path.includes('/artifacts/');
    count.requests += 1;
    if (isEntries) count.entryRequests += 1;
    if (!file) return response.writeHead(404).end();
    if (request.headers['if-none-match'] === file.etag) return response.writeHead(304, { etag: file.etag }).end();
    count.bytes += file.bytes.length;
    if (isEntries) count.entryBytes += file.bytes.length;
    return response.writeHead(200, { etag: file.etag }).end(file.bytes);
  });
  // On a busy machine a client may be slower than the usual five seconds, and than a minute.
  server.keepAliveTimeout = 600_000;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(served, { server, url: `http://127.0.0.1:${server.address().port}` });
}

function nothing() {
  return { requests: 0, bytes: 0, entryRequests: 0, entryBytes: 0 };
}

/** Files of skills are never changed in their place, so they are links: a copy of 100,000 files takes a minute. */
function copyCache(from, to) {
  const isSkill = (path) => /\/pages\/[^/]+\/skills$/.test(path);
  cpSync(from, to, { recursive: true, filter: (path) => !isSkill(path) });
  const pages = 'skill-registry/pages';
  for (const page of readdirSync(join(from, pages)).filter((name) => existsSync(join(from, pages, name, 'skills'))))
    execFileSync('cp', ['-al', join(from, pages, page, 'skills'), join(to, pages, page, 'skills')]);
}

/** @param copy - What a machine of this server had after its first copy; made by the first one. */
async function runMachine(index, copy, served, before, after) {
  served.files = before;
  const cache = join(base, `machine-${index}`);
  const isFirst = index < FIRST || !existsSync(copy);
  if (isFirst) mkdirSync(cache);
  else copyCache(copy, cache);
  const changed = [...after].filter(([path, { etag }]) => before.get(path)?.etag !== etag).map(([path]) => path);
  const child = fork(
    MACHINE,
    [served.url, cache, String(SKILLS), JSON.stringify(changed), isFirst ? 'first' : 'copy'],
    {
      env: { ...process.env, XDG_CACHE_HOME: cache },
    },
  );
  const phases = {};
  child.on('message', ({ phase, change, result }) => {
    if (change) served.files = after;
    if (phase) phases[phase] = { ...result, ...served.count };
    served.count = nothing();
    if (phase === 'first' && !existsSync(copy)) copyCache(cache, copy);
    child.send('go on');
  });
  const status = await new Promise((resolve) => child.on('exit', resolve));
  rmSync(cache, { recursive: true, force: true });
  if (status !== 0) throw new Error(`machine ${index} ended with ${status}`);
  return phases;
}

function rowsOf(results) {
  return Object.entries(PHASES).map(([phase, what]) => {
    const measured = results.filter((result) => result[phase]);
    const of = (key) => measured.map((result) => result[phase][key]);
    const ratios = measured.map(({ [phase]: { ms, bareMs } }) => ms / bareMs);
    const [requests, bytes] = [percentile(of('requests'), 1), percentile(of('bytes'), 1)];
    const ratio = `${percentile(ratios, 0.5).toFixed(1)}x (95 %: ${percentile(ratios, 0.95).toFixed(1)}x)`;
    const [entryRequests, entryBytes] = [percentile(of('entryRequests'), 1), percentile(of('entryBytes'), 1)];
    const sent = `${requests} requests, ${kib(bytes)} each, of them for entries ${entryRequests}, ${kib(entryBytes)}`;
    const memory = Math.round(percentile(of('rss'), 0.5) / 1024 / 1024);
    return {
      ...{ what, on: `${measured.length} machines`, skills: SKILLS, ms: percentile(of('ms'), 0.5) },
      ratio: `${ratio}; ${sent}; ${memory} MiB`,
    };
  });
}

function kib(bytes) {
  return `${Math.round(bytes / 1024).toLocaleString('en')} KiB`;
}
