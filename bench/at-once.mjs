/**
 * A fresh home: processor seconds from the start of the process to the first complete answer. Ours: `skill-registry mcp` on stdio, a real
 * client, a ranked `list_skills(query)`. Theirs: the binary of codex, its first list of the same folder, whose skills it does not rank.
 * Usage: node bench/at-once.mjs FOLDER [rounds]; prints JSON: rows of the table. FOLDER has skills in it, one folder each, at any depth.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRpc } from './rpc.mjs';
import { median } from './statistics.mjs';

const OURS = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const CODEX = fileURLToPath(new URL('node_modules/@openai', import.meta.url));

const [folder = '', rounds = '5'] = process.argv.slice(2);
const base = realpathSync(mkdtempSync(join(tmpdir(), 'skill-registry-bench-')));
process.on('exit', () => rmSync(base, { recursive: true, force: true }));
const flat = flatCopy(folder, join(base, 'flat'));
const found = { ours: [], codex: [] };
for (let round = 0; round < Number(rounds); round++) {
  found.ours.push(await ours(join(base, `ours-${round}`)));
  if (existsSync(CODEX)) found.codex.push(await codex(join(base, `codex-${round}`)));
}
const missing = 'codex is not installed: npm i --prefix bench --no-save @openai/codex@0.169.0';
const ratios = found.codex.map((theirs, round) => found.ours[round].seconds / theirs.seconds);
const beside = ratios.length > 0 ? `${median(ratios).toFixed(2)}x codex` : missing;
const rows = [
  rowOf('fresh home to a ranked list, mcp', found.ours, `${beside}; ${found.ours[0].ranked} hits`, '1.3x codex'),
];
if (ratios.length > 0) rows.push(rowOf('codex: first list', found.codex, '', ''));
console.log(JSON.stringify(rows));
process.exit(0);

// --- internal ---

/** Codex looks only into children of a folder. */
function flatCopy(from, to) {
  mkdirSync(to);
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (entry.name !== 'SKILL.md') continue;
    const source = entry.parentPath;
    const id = basename(source);
    if (!existsSync(join(to, id))) cpSync(source, join(to, id), { recursive: true });
  }
  return to;
}

async function ours(home) {
  mkdirSync(join(home, 'root', 'data'), { recursive: true });
  const env = { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: join(home, 'c'), XDG_STATE_HOME: join(home, 's') };
  const args = [OURS, 'mcp', '--root', join(home, 'root'), '--skills', flat];
  const rpc = startRpc(process.execPath, args, { cwd: home, env });
  await rpc.call('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '0' },
  });
  rpc.tell('notifications/initialized');
  const answer = await rpc.call('tools/call', { name: 'list_skills', arguments: { query: 'review a pull request' } });
  const seconds = secondsOf(rpc.pid);
  const all = await rpc.call('tools/call', { name: 'list_skills', arguments: { limit: 1 } });
  await rpc.end();
  const ranked = JSON.parse(answer.content[0].text).skills.length;
  return { seconds, skills: JSON.parse(all.content[0].text).total, ranked };
}

async function codex(home) {
  mkdirSync(join(home, '.codex'), { recursive: true });
  mkdirSync(join(home, 'empty'));
  const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: join(home, '.codex'), RUST_LOG: 'error' };
  const rpc = startRpc(binaryOfCodex(), ['app-server'], { cwd: join(home, 'empty'), env });
  const clientInfo = { name: 'bench', title: 'bench', version: '0' };
  await rpc.call('initialize', { clientInfo, capabilities: { experimentalApi: true } });
  rpc.tell('initialized');
  await rpc.call('skills/extraRoots/set', { extraRoots: [flat] });
  const { data } = await rpc.call('skills/list', { cwds: [join(home, 'empty')], forceReload: true });
  const seconds = secondsOf(rpc.pid);
  await rpc.end();
  return { seconds, skills: data[0].skills.filter(({ path }) => path.startsWith(flat)).length };
}

function binaryOfCodex() {
  const platform = readdirSync(CODEX).find((name) => name.startsWith(`codex-${process.platform}`));
  const vendor = join(CODEX, platform, 'vendor');
  return join(vendor, readdirSync(vendor)[0], 'bin', 'codex');
}

/** User and system, all threads; Linux only. */
function secondsOf(pid) {
  const [, user, system] = /\) (?:\S+ ){11}(\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return (Number(user) + Number(system)) / 100;
}

function rowOf(what, runs, ratio, budget) {
  const ms = 1000 * median(runs.map(({ seconds }) => seconds));
  return { what, on: 'wild skills', skills: runs[0].skills, ms, ratio, budget };
}
