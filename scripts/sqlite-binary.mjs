// Node 20 has no SQLite. npm silently leaves out better-sqlite3 when it can fetch neither a binary nor Node's headers:
// this compiles it with the headers of the Node installation, if there are any.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tsImport } from 'tsx/esm/api';

const { whyNoSqlite } = await tsImport('../lib/sqlite/index.ts', import.meta.url);
const prefix = dirname(dirname(process.execPath));
if (whyNoSqlite() !== undefined && existsSync(join(prefix, 'include', 'node', 'node.h'))) {
  const version = JSON.parse(readFileSync('package.json', 'utf8')).optionalDependencies['better-sqlite3'];
  process.stderr.write(
    'better-sqlite3 is compiled now: 2 to 15 minutes without output. If you stop this with Ctrl+C, skills can be read but not changed until npm ci has run.\n',
  );
  const options = ['--no-save', '--no-audit', '--loglevel=error', `--nodedir=${prefix}`];
  spawnSync('npm', ['install', ...options, `better-sqlite3@${version}`], { stdio: ['ignore', 'ignore', 'inherit'] });
}
