/**
 * Resident memory of `skill-registry mcp --http` while its skills change and clients ask: `node http-growth.mjs [skills] [seconds]`.
 * Three skills change and three requests are made in each round; every 20 seconds a line. Linux only.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { generateSkills } from './generate-skills.mjs';

const OURS = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const ROUND_MS = 300;
const LINE_SECONDS = 20;

const [count, seconds] = [Number(process.argv[2] ?? 500), Number(process.argv[3] ?? 180)];
const home = mkdtempSync(join(tmpdir(), 'skill-registry-bench-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));
const [root, skills] = [join(home, 'root'), join(home, 'skills')];
mkdirSync(join(root, 'data'), { recursive: true });
generateSkills(skills, count);
const args = [OURS, 'mcp', '--http', '0', '--root', root, '--skills', skills];
const running = spawn(process.execPath, args, {
  env: { PATH: process.env.PATH, HOME: home },
  stdio: ['ignore', 'pipe', 'ignore'],
});
const url = await new Promise((done) => running.stdout.once('data', (data) => done(String(data).trim())));
const startedAt = performance.now();
let [changed, asked, next] = [0, 0, 0];
for (;;) {
  for (let index = 0; index < 3; index++) change();
  await ask('tools/call', { name: 'list_skills', arguments: { query: `review the invoice ${changed % 50}` } });
  await ask('resources/list', {});
  await ask('tools/call', { name: 'read_skill', arguments: { skill_id: idOf(changed) } });
  const passed = (performance.now() - startedAt) / 1000;
  if (passed >= next) console.log(`${passed.toFixed(0)} s: ${resident()} MiB, ${asked} requests, ${changed} changes`);
  if (passed >= next) next += LINE_SECONDS;
  if (passed > seconds) break;
  await wait(ROUND_MS);
}
running.kill();

// --- internal ---

function change() {
  changed += 1;
  const file = join(skills, idOf(changed * 7), 'SKILL.md');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/\nChange \d+\.\n$|$/, `\nChange ${changed}.\n`));
}

function idOf(number) {
  return `skill-${String(number % count).padStart(5, '0')}`;
}

async function ask(method, params) {
  asked += 1;
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: asked, method, params });
  await (await fetch(url, { method: 'POST', headers, body })).text();
}

function resident() {
  return (Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${running.pid}/status`, 'utf8'))[1]) / 1024).toFixed(0);
}
