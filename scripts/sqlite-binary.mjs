// Node 20 has no SQLite. Where npm could fetch neither a binary of better-sqlite3 nor the headers of Node, it has left that package out without
// a word: here it is compiled with the headers that came with Node, where they did. Needs dist/.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { whyNoSqlite } from '../dist/lib/sqlite/index.js';

const prefix = dirname(dirname(process.execPath));
if (whyNoSqlite() !== undefined && existsSync(join(prefix, 'include', 'node', 'node.h'))) {
  const version = JSON.parse(readFileSync('package.json', 'utf8')).optionalDependencies['better-sqlite3'];
  process.stderr.write('better-sqlite3 is compiled, which takes some minutes ...\n');
  const options = ['--no-save', '--no-audit', '--loglevel=error', `--nodedir=${prefix}`];
  spawnSync('npm', ['install', ...options, `better-sqlite3@${version}`], { stdio: ['ignore', 'ignore', 'inherit'] });
}
