import { spawn } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqlite } from '../../lib/sqlite/index.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';

const CHILD = join(import.meta.dirname, '..', 'helpers', 'root-skill-child.mjs');
/** `CAMPAIGN_SECONDS=60 npx vitest run --config vitest.slow.config.ts test/slow/root-is-a-skill.test.ts` for the long form. */
const SECONDS = Number(process.env.CAMPAIGN_SECONDS ?? 2);

it.each([
  ['the root itself', [{ path: '.' }], false],
  ['the root, whose data/ is a link into it', [{ path: '.' }], true],
])(
  'keeps the history sound and whole while two processes work on %s as a skill',
  {
    timeout: (SECONDS + 120) * 1000,
  },
  async (_title, sources, linked) => {
    const root = tempFolder({
      'SKILL.md': skillMd({ name: 'whole', description: 'The whole project.' }),
      'references/guide.md': 'Guide.',
      ...(linked ? { 'store/.keep': '' } : {}),
    });
    if (linked) symlinkSync('store', join(root, 'data'));
    const runs = await Promise.all([0, 1].map((n) => work({ root, n, seconds: SECONDS, sources })));
    expect(runs.flatMap(({ failed }) => failed)).toEqual([]);
    expect(runs.every(({ rounds, read }) => rounds > 0 && read > 0)).toBe(true);

    const database = openSqlite(join(root, 'data/skill_registry/history.db'));
    expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    // Whatever somebody was told was done is in the history, once.
    const rows = database.prepare<{ state: string }>('SELECT state FROM proposal WHERE id = ?');
    const state = (id: string) => rows.get(id)?.state;
    for (const { approved, rejected } of runs) {
      expect(approved.map((id) => state(id))).toEqual(approved.map(() => 'approved'));
      expect(rejected.map((id) => state(id))).toEqual(rejected.map(() => 'rejected'));
    }
    const made = database
      .prepare<{ made: number }>("SELECT count(*) AS made FROM revision WHERE kind = 'tool'")
      .get()?.made;
    const written = runs.flatMap((run) => run.written);
    expect(made).toBe(written.length);
    for (const path of written) expect(existsSync(join(root, path)), path).toBe(true);
    // And nothing the registry keeps for itself has become part of the skill.
    const paths = database
      .prepare<{ path: string }>(
        "SELECT DISTINCT json_extract(value, '$.path') AS path FROM revision, json_each(revision.tree)",
      )
      .all()
      .map(({ path }) => path);
    database.close();
    expect(paths.filter((path) => /^(data|store)\//.test(path))).toEqual([]);
    expect(readFileSync(join(root, 'SKILL.md'), 'utf8')).toContain('The whole project.');
  },
);

interface Run {
  readonly approved: readonly string[];
  readonly rejected: readonly string[];
  readonly written: readonly string[];
  readonly read: number;
  readonly rounds: number;
  readonly failed: readonly string[];
}

function work(request: object): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, JSON.stringify(request)], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (data) => (output += String(data)));
    child.on('error', reject);
    child.on('exit', (status) => {
      if (status === 0) resolve(JSON.parse(output) as Run);
      else reject(new Error(`a process ended with status ${status}`));
    });
  });
}
