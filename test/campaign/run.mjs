// The long forms of slow tests, with the Node that runs this: kills at every step of every change, races, two processes on a root that
// is a skill, and an agent that tries everything. CI runs a short form of each.
// Usage: npm run campaign [-- <part>...]. KILLS, KILL_SEED, RACE_ATTEMPTS, CAMPAIGN_SECONDS, CAMPAIGN_CALLS, CAMPAIGN_SEED
// PAGE_SKILLS, PAGE_MACHINES, HUB_ROUNDS, HUB_MACHINES and HUB_SKILLS change a part.
// Exit status 1 when one fails.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const PARTS = {
  /** So many on each: one file system, two, and a disk that is full. */
  kills: { files: ['kill'], environment: { KILLS: '100' } },
  races: {
    files: ['file-races', 'symlink-race', 'symlink-race-reads', 'write-race'],
    environment: { RACE_ATTEMPTS: '10000' },
  },
  exchanged: { files: ['exchanged-while-read'], environment: { CAMPAIGN_SECONDS: '60' } },
  'root-is-a-skill': { files: ['root-is-a-skill'], environment: { CAMPAIGN_SECONDS: '60' } },
  /** More skills than one index may name. */
  'large-page': { files: ['large-page'], environment: { PAGE_SKILLS: '50000' } },
  /** A hundred machines read such a page, and what a server counts. */
  pages: { program: ['bench/pages.mjs', process.env.PAGE_MACHINES ?? '100', '50000'] },
  /** Two hubs on PostgreSQL: killed, frozen, their database away, a backup put back. */
  hubs: { files: ['features/hub/two-hubs'], environment: { HUB_ROUNDS: '10', HUB_MACHINES: '10' } },
  /** As many skills as a hub is for, on SQLite and PostgreSQL: every machine has all of them, and each change. */
  'large-hub': { files: ['features/hub/large-hub'], environment: { HUB_SKILLS: '50000' } },
  /** What tests are left without each feature. */
  wall: {},
  'hostile-agent': { files: ['hostile-agent'], environment: { CAMPAIGN_CALLS: '200' } },
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  process.stderr.write(`There is no part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}.\n`);
  process.exit(2);
}
const rows = (wanted.length > 0 ? wanted : Object.keys(PARTS)).map(run);
process.stdout.write(`\nNode ${process.version}\n${rows.map(({ line }) => line).join('\n')}\n`);
process.exitCode = rows.every(({ passed }) => passed) ? 0 : 1;

function run(name) {
  const startedAt = performance.now();
  const { program } = PARTS[name];
  const status = program ? execute(program) : name === 'wall' ? runWall() : runSlow(PARTS[name]);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  return { passed: status === 0, line: `${name}: ${status === 0 ? 'passed' : 'FAILED'}, ${seconds} s` };
}

function runSlow({ files, environment }) {
  const args = ['run', '--config', 'vitest.slow.config.ts', ...files.map((file) => `test/slow/${file}.test.ts`)];
  return execute(['node_modules/vitest/vitest.mjs', ...args], environment);
}

function runWall() {
  const features = readdirSync(join(ROOT, 'extensions/skill_registry/features'));
  const red = features.filter((feature) => execute(['test/wall/tests.mjs', feature]) !== 0);
  return red.length;
}

function execute(args, environment = {}) {
  const env = { ...environment, ...process.env };
  return spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' }).status;
}
