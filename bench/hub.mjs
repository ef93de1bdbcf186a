/**
 * `node bench/hub.mjs [clients] [skills] [changes]`: a hub (SQLite) with so many skills, and clients that follow it in four processes by real
 * HTTP. Measured: a folder that comes in, a start, publish to readable at all clients, the same through a kill of a hub, the first
 * catalog of a fresh machine, and publish to readable there. With HUB_STORE, the address of an empty database of PostgreSQL, and HUB_OWNER, that of its owner, there are
 * two hubs, clients begin with either of them, and one is killed. Linux only. bench/README.md explains it.
 */
import { fork, spawn, spawnSync } from 'node:child_process';
import { closeSync, fsyncSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { generateSkills } from './generate-skills.mjs';
import { median, percentile, timed } from './statistics.mjs';

const SELF = fileURLToPath(import.meta.url);
const COMMAND = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const PROCESSES = 4;
const MACHINE_CHANGES = 20;
const STORE = process.env.HUB_STORE;
const now = () => performance.timeOrigin + performance.now();

if (process.argv[2] === 'follow') await follow(process.argv.slice(3));
else if (process.argv[2] === 'machine') await machine(process.argv.slice(3));
else await measure(...[100, 5_000, 60].map((otherwise, at) => Number(process.argv[at + 2] ?? otherwise)));

async function measure(clients, skills, changes) {
  const base = mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), 'skill-registry-hub-'));
  const running = [];
  try {
    const [data, tree] = [join(base, 'hub'), join(base, 'tree')];
    generateSkills(tree, skills);
    const command = (...args) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
        encoding: 'utf8',
        maxBuffer: 1 << 30,
        env: { ...process.env, HOME: base },
      });
      if (status !== 0) throw new Error(`${args.slice(0, 2).join(' ')}: ${stderr.slice(0, 500)}`);
      return stdout.trim();
    };
    const kept = STORE ? ['--store', STORE] : [];
    if (STORE) command('hub', 'migrate', '--store', process.env.HUB_OWNER ?? '', '--role', new URL(STORE).username);
    const taken = await timed(() =>
      command('hub', 'import', tree, '--data', data, ...kept, '--space', 'team', '--by', 'ada'),
    );
    say('hub import', `${(taken.ms / 1000).toFixed(1)} s, ${(taken.ms / skills).toFixed(2)} ms a skill`);
    const tokenOf = (role) =>
      command('hub', 'token', 'add', '--data', data, ...kept, '--space', 'team', '--role', role, '--person', role);
    const [admin, reader] = [tokenOf('admin'), tokenOf('reader')];
    const tokens = [reader];
    // A token has at most 8 open polls.
    while (tokens.length < clients / 8) tokens.push(tokenOf('reader'));
    const ports = await Promise.all((STORE ? [1, 2] : [1]).map(freePort));
    const urls = ports.map((port) => `http://127.0.0.1:${port}`);
    const [url] = urls;
    const space = `${url}/v1/spaces/team`;
    const start = async (at) => {
      const args = [COMMAND, 'serve', '--data', data, ...kept, '--port', String(ports[at])];
      const hub = spawn(process.execPath, args, { stdio: 'ignore', env: { ...process.env, HOME: base } });
      running.push(hub);
      while (!(await fetch(`${urls[at]}/healthz`).catch(() => undefined))) await wait(20);
      return hub;
    };
    const started = await timed(() => start(0));
    let hub = started.value;
    if (STORE) await start(1);
    say('start to /healthz', `${started.ms.toFixed(0)} ms`);
    const headers = { authorization: `Bearer ${reader}` };
    const search = async () => {
      const answer = await fetch(`${space}/search?q=review+the+invoice`, { headers });
      if (!answer.ok) throw new Error(`search: ${await answer.text()}`);
      return answer.json();
    };
    const found = await timed(async () => {
      let { provisional } = await search();
      while (provisional) {
        await wait(500);
        provisional = (await search()).provisional;
      }
    });
    say('first search until all bodies are indexed', `${(found.ms / 1000).toFixed(1)} s`);
    const again = await timed(search);
    say('search of the hub then', `${again.ms.toFixed(0)} ms`);
    say('memory of the hub', `${residentMiB(hub)} MiB`);

    const followers = Array.from({ length: PROCESSES }, (_, at) => {
      const own = tokens.filter((_token, index) => index % PROCESSES === at);
      return fork(SELF, [
        'follow',
        urls.join(),
        String(Math.ceil(clients / PROCESSES)),
        ...(own.length > 0 ? own : tokens),
      ]);
    });
    running.push(...followers);
    const seen = new Map();
    let [readyCount, expected] = [0, Math.ceil(clients / PROCESSES) * PROCESSES];
    for (const one of followers)
      one.on('message', ({ ready, digest, at }) => {
        if (ready) readyCount += 1;
        else seen.set(digest, [...(seen.get(digest) ?? []), at]);
      });
    while (readyCount < PROCESSES) await wait(20);
    await wait(1000);

    const publish = async (number) => {
      const id = `skill-${String((number * 7) % skills).padStart(5, '0')}`;
      const body = readFileSync(join(tree, id, 'SKILL.md'), 'utf8').concat(`\nChange ${number} ${now()}.\n`);
      const sent = now();
      for (let round = 0; ; round++) {
        const answer = await fetch(`${urls[round % urls.length]}/v1/spaces/team/skills/${id}`, {
          method: 'PUT',
          headers: { authorization: `Bearer ${admin}`, 'content-type': 'text/markdown' },
          body,
        }).catch(() => undefined);
        // Of a hub that was killed after it had committed: the same again is no change.
        if (answer?.ok || answer?.status === 409) return { sent, digest: await digestOf(body) };
        await wait(20);
      }
    };
    const publishAll = async (count, first, meanwhile) => {
      const published = [];
      for (let number = 0; number < count; number++) {
        if (number === Math.floor(count / 3)) await meanwhile?.();
        published.push(await publish(first + number));
        const until = now() + 30_000;
        while ((seen.get(published.at(-1).digest)?.length ?? 0) < expected && now() < until) await wait(5);
      }
      const times = published.flatMap(({ sent, digest }) => (seen.get(digest) ?? []).map((at) => at - sent));
      return { times, missed: published.length * expected - times.length };
    };
    const floor = await floorOf(base, url);
    say('one synced commit and one round trip', `${floor.toFixed(1)} ms`);
    report('publish to readable', await publishAll(changes, 0), floor);
    const through = await publishAll(changes, changes, async () => {
      hub.kill('SIGKILL');
      void start(0).then((next) => (hub = next));
    });
    report('through a kill of a hub', through, floor);
    for (const one of followers) one.kill();

    const cold = fork(SELF, ['machine', url, reader, join(base, 'laptop'), String(skills)], {
      env: { ...process.env, HOME: base, XDG_CACHE_HOME: join(base, 'cache') },
    });
    running.push(cold);
    const result = await new Promise((done) => cold.once('message', done));
    say('first catalog of a fresh machine', `${(result.ms / 1000).toFixed(1)} s, ${result.rss} MiB resident`);
    say('its entries', `${(result.bytes / 1024 / 1024).toFixed(1)} MiB of answers`);
    say('a refresh there, nothing changed', `${result.refreshMs.toFixed(0)} ms of processor time`);
    const readings = new Map();
    cold.on('message', ({ digest, ...reading }) => readings.set(digest, reading));
    const near = [];
    // The first two compile what they use.
    for (let number = 0; number < MACHINE_CHANGES + 2; number++) {
      const { sent, digest } = await publish(2 * changes + number);
      for (const until = now() + 60_000; !readings.has(digest) && now() < until; ) await wait(5);
      const { at = Number.NaN, cpu } = readings.get(digest) ?? {};
      if (number > 1) near.push({ ms: at - sent, cpu });
      await wait(1000);
    }
    const cpu = (near.at(-1).cpu - near[0].cpu) / (near.length - 1);
    const times = near.map(({ ms }) => ms);
    const [p50, p95] = [0.5, 0.95].map((share) => `${percentile(times, share).toFixed(0)} ms`);
    say(
      'readable at a machine with all skills',
      `p50 ${p50}, p95 ${p95}, ${cpu.toFixed(0)} ms of processor time a change`,
    );
    say('memory of the hub at the end', `${residentMiB(hub)} MiB`);
  } finally {
    for (const one of running) one.kill('SIGKILL');
    await wait(200);
    rmSync(base, { recursive: true, force: true });
  }
}

/** One process of clients: each keeps a poll open, and reads what has changed. */
async function follow([addresses, count, ...tokens]) {
  const urls = addresses.split(',');
  const askWith = async (index, path) => {
    const headers = { authorization: `Bearer ${tokens[index % tokens.length]}` };
    // The other hub is asked where one does not answer.
    for (let round = index; ; round++) {
      const space = `${urls[round % urls.length]}/v1/spaces/team`;
      const answer = await fetch(space + path, { headers }).catch(() => undefined);
      if (answer?.ok) return answer;
      await wait(20);
    }
  };
  const { head, epoch } = await (await askWith(0, `/changes?after=0`)).json();
  const client = async (index) => {
    let after = head;
    for (;;) {
      const news = await (await askWith(index, `/changes?after=${after}&epoch=${epoch}&wait=25`)).json();
      for (const { entry } of news.changes) {
        await (await askWith(index, `/artifacts/${entry.digest}`)).arrayBuffer();
        process.send({ digest: entry.digest, at: now() });
      }
      after = news.head;
    }
  };
  process.send({ ready: true });
  await Promise.all(Array.from({ length: Number(count) }, (_, index) => client(index)));
}

/** A machine that has nothing of the hub yet. */
async function machine([url, token, root, skills]) {
  const { createSkillRegistry } = await import('../dist/extensions/skill_registry/index.js');
  mkdirSync(root, { recursive: true });
  const read = globalThis.fetch;
  let bytes = 0;
  for (let after = 0; ; ) {
    const headers = { authorization: `Bearer ${token}` };
    const text = await (await read(`${url}/v1/spaces/team/changes?after=${after}`, { headers })).text();
    bytes += text.length;
    const { changes, more } = JSON.parse(text);
    if (!more) break;
    after = changes.at(-1).seq;
  }
  const open = () =>
    createSkillRegistry({
      root,
      trust: true,
      getSecret: () => token,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: what a config has
      config: { sources: [{ hub: url, token: '${HUB_TOKEN}' }] },
    });
  const { ms, value: registry } = await timed(async () => {
    const opened = await open();
    while (opened.snapshot().skills.length < Number(skills)) {
      await wait(100);
      await opened.refresh();
    }
    return opened;
  });
  const rss = Math.round(process.memoryUsage.rss() / 1024 / 1024);

  process.send({ ms, bytes, rss, refreshMs: await refreshOf(registry) });
  registry.onChange(async (ids) => {
    const turn = { agentId: 'reader' };
    for (const id of ids) {
      const { digest } = await registry.read(id, {}, turn);
      const { user, system } = process.cpuUsage();
      process.send({ digest, at: now(), cpu: (user + system) / 1000 });
    }
  });
  await registry.watch(new AbortController().signal);
}

/** Of a refresh when nothing has changed, in milliseconds of processor time. */
async function refreshOf(registry) {
  await wait(1_100);
  return (await timed(() => registry.refresh())).cpu;
}

/** In milliseconds, as a median. */
async function floorOf(folder, url) {
  const file = openSync(join(folder, 'floor'), 'w');
  const rounds = [];
  for (let round = 0; round < 50; round++) {
    const { ms } = await timed(async () => {
      writeSync(file, Buffer.alloc(4096, round));
      fsyncSync(file);
      await (await fetch(`${url}/healthz`)).text();
    });
    rounds.push(ms);
  }
  closeSync(file);
  return median(rounds);
}

function report(what, { times, missed }, floor) {
  const shown = (value) => `${value.toFixed(0)} ms (${(value / floor).toFixed(0)}x)`;
  const [p50, p95, most] = [percentile(times, 0.5), percentile(times, 0.95), Math.max(...times)];
  say(what, `p50 ${shown(p50)}, p95 ${shown(p95)}, max ${shown(most)}; ${times.length} readings, ${missed} missed`);
}

function say(what, figure) {
  console.log(`${what.padEnd(44)}${figure}`);
}

function residentMiB({ pid }) {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024);
}

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

async function digestOf(text) {
  const { createHash } = await import('node:crypto');
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
