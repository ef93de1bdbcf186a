/**
 * Processor time of whole commands, user and system together, with their skills inspected and cached. Compared with a node that
 * does nothing, which takes its turn between them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { child, rootIn } from './children.mjs';
import { generateSkills } from './generate-skills.mjs';
import { median } from './statistics.mjs';

const OURS = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const THEIRS = fileURLToPath(new URL('node_modules/openskills/dist/cli.js', import.meta.url));
const SHIPPED = fileURLToPath(new URL('../skills', import.meta.url));
const COMMANDS = { list: [], search: ['review the invoice report'], doctor: [], start: [] };
const ROUNDS = 7;

/** @param trees - As `makeTrees` gives them. */
export function commandRows(base, { wild, g10 }) {
  const few = join(base, 'few');
  generateSkills(few, 100);
  const trees = {
    shipped: { label: 'shipped', folder: SHIPPED },
    few: { label: '100 generated', folder: few },
    wild,
    g10,
  };
  const rows = Object.entries(trees).flatMap(([name, tree]) => (tree ? rowsOf(tree, rootIn(base, name)) : []));
  return existsSync(THEIRS) ? rows : [...rows, { what: 'openskills list', on: g10.label, ratio: 'not installed' }];
}

function rowsOf({ label, folder }, root) {
  const { skills } = child('ours.mjs', ['cached', folder, root]);
  const runs = { empty: ['-e', '0'] };
  for (const [command, args] of Object.entries(COMMANDS)) {
    runs[command] = [OURS, command, ...args, '--root', root, '--skills', folder];
  }
  const other = `${root}-openskills`;
  if (skills === 10_000 && existsSync(THEIRS)) {
    mkdirSync(join(other, '.claude'), { recursive: true });
    symlinkSync(folder, join(other, '.claude/skills'));
    runs['openskills list'] = [THEIRS, 'list'];
  }
  const samples = Object.entries(runs).map(([what, args]) => ({ what, args, all: [] }));
  for (let round = -1; round < ROUNDS; round++) {
    for (const { args, all } of samples) {
      const ms = processorTime(args, args[0] === THEIRS ? other : root);
      // What a command makes when it is run for the first time is no part of it.
      if (round >= 0) all.push(ms);
    }
  }
  const [empty, ...rest] = samples.map(({ what, all }) => ({ what, ms: median(all) }));
  return rest.map(({ what, ms }) => ({
    what: `${what}, processor time`,
    on: label,
    skills,
    ms,
    ratio: `${(ms / empty.ms).toFixed(1)}x an empty node (${empty.ms} ms)`,
    budget: what === 'list' && skills === 10_000 ? '600 ms' : '',
  }));
}

/** Milliseconds, of the processes that it starts, too. Standard input has ended, and no model is set. */
function processorTime(args, cwd) {
  const script = 'TIMEFORMAT="%3U %3S"; time "$@" </dev/null 2>/dev/null';
  const { PATH, HOME, XDG_STATE_HOME, XDG_CACHE_HOME } = process.env;
  const options = {
    cwd,
    env: { PATH, HOME, XDG_STATE_HOME, XDG_CACHE_HOME },
    encoding: 'utf8',
    maxBuffer: 64 * 1_048_576,
  };
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', process.execPath, ...args], options);
  // 1: problems were found. A command that fails says so on standard error only.
  const ended = status === 0 || (status === 1 && stdout !== '');
  if (!ended)
    throw new Error(`node ${args.join(' ')} ended with ${status}, after printing ${stdout.length} characters`);
  const [user, system] = stderr.trim().split(' ').map(Number);
  return Math.round((user + system) * 1000);
}
