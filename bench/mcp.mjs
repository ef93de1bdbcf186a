/**
 * `skill-registry mcp` on standard input and output: processor time and memory of a process that has answered `initialize`, on four
 * skills, beside a node that only echoes; and 40 such processes on one root at once, each until its first list, beside 40 one by one.
 * `node mcp.mjs <base> <few>` prints JSON: rows of the table. `base` is temporary, `few` a folder of some 100 skills.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rootIn } from './children.mjs';
import { startRpc } from './rpc.mjs';
import { median } from './statistics.mjs';

const OURS = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const SHIPPED = fileURLToPath(new URL('../skills', import.meta.url));
const ECHO = ['-e', 'process.stdin.once("data", () => console.log(JSON.stringify({ id: 1, result: {} })))'];
const ROUNDS = 7;
const TOGETHER = 40;

const [, , base, few] = process.argv;
console.log(JSON.stringify([await initialized(rootIn(base, 'mcp')), await together(rootIn(base, 'together'))]));
process.exit(0);

async function initialized(root) {
  const args = [OURS, 'mcp', '--root', root, '--skills', SHIPPED];
  const found = { ours: [], bare: [] };
  // All is inspected and kept, as from the second start on: a process that ends at once inspects nothing.
  spawnSync(process.execPath, [OURS, 'doctor', ...args.slice(2)], { stdio: 'ignore' });
  for (let round = -1; round < ROUNDS; round++) {
    const [ours, bare] = [await started(args), await started(ECHO)];
    if (round < 0) continue;
    found.ours.push(ours);
    found.bare.push(bare);
  }
  const of = (name, key) => median(found[name].map((one) => one[key]));
  const bare = `${of('bare', 'ms').toFixed(0)} ms, ${of('bare', 'mib').toFixed(0)} MiB`;
  const ratio = `${of('ours', 'mib').toFixed(0)} MiB; a bare node ${bare}`;
  return {
    what: 'mcp after initialize',
    on: 'shipped',
    skills: 4,
    ms: of('ours', 'ms'),
    ratio,
    budget: '300 ms, 75 MiB',
  };
}

async function together(root) {
  const args = [OURS, 'mcp', '--root', root, '--skills', few];
  // Whoever comes first inspects and indexes.
  await started(args, true);
  const alone = [];
  for (let index = 0; index < TOGETHER; index++) alone.push((await started(args, true)).ms);
  const all = await Promise.all(Array.from({ length: TOGETHER }, () => started(args, true)));
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const ms = sum(all.map((one) => one.ms));
  const ratio = `${(ms / sum(alone)).toFixed(2)}x ${TOGETHER} one by one`;
  return { what: `${TOGETHER} mcp at once, a list each`, on: '100 generated', skills: 100, ms, ratio, budget: '2x' };
}

/** Starts a process, asks, and ends it. */
async function started(args, lists = false) {
  const { PATH, HOME, XDG_STATE_HOME, XDG_CACHE_HOME } = process.env;
  const env = { PATH, HOME, XDG_STATE_HOME, XDG_CACHE_HOME };
  const rpc = startRpc(process.execPath, args, { env });
  const clientInfo = { name: 'bench', version: '0' };
  await rpc.call('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  if (lists) {
    rpc.tell('notifications/initialized');
    await rpc.call('tools/call', { name: 'list_skills', arguments: { query: 'review the invoice report' } });
  }
  const used = usedBy(rpc.pid);
  await rpc.end();
  return used;
}

/** Linux only. All threads. */
function usedBy(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = (thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return { ms: threads.reduce((sum, thread) => sum + nanoseconds(thread), 0) / 1e6, mib: Number(kib) / 1024 };
}
