import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../lib/sqlite/index.ts';
import { skill } from '../helpers/boot-root.ts';
import { openRoot } from '../helpers/open-registry.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const BENCH = readFileSync(join(import.meta.dirname, '../../bench/full-usage.mjs'), 'utf8');
const FULL_USAGE = /`([\s\S]*)`/.exec(BENCH)?.[1] ?? '';
const TREE = { 'data/.keep': '', ...skill('tea') };
const DIST = pathToFileURL(
  join(import.meta.dirname, '..', '..', 'dist', 'extensions', 'skill_registry', 'index.js'),
).href;

it('loses at most the last 200 milliseconds of a process that is killed', { timeout: 120_000 }, async () => {
  const root = tempFolder(TREE);
  const program = `
    import { createSkillRegistry } from '${DIST}';
    const registry = await createSkillRegistry({ root: ${JSON.stringify(root)}, config: { sources: [{ path: 'skills' }] } });
    for (;;) {
      await registry.read('tea', {}, { agentId: 'clerk' });
      console.log(Date.now());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }`;
  let written = 0;
  for (let kill = 0; kill < 5; kill++) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const times: number[] = [];
    child.stdout.on('data', (chunk) => times.push(...String(chunk).trim().split('\n').map(Number)));
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (times.length < 100 + kill * 37) return;
        clearInterval(timer);
        child.kill('SIGKILL');
        resolve();
      }, 1);
    });
    await new Promise((resolve) => child.on('close', resolve));
    const registry = await openRoot(root);
    const events = await registry.usage.events({ limit: 10_000 });
    await registry.close();
    const kept = events.length - written;
    written = events.length;
    // The process may have been without a processor for a while: what counts is what it did in its last 200 milliseconds.
    const end = times.at(-1) ?? 0;
    const before = times.filter((time) => time < end - 200).length;
    expect(kept).toBeGreaterThanOrEqual(before);
    expect(kept).toBeGreaterThan(0);
  }
});

it('reports over as many events as are kept', { timeout: 300_000 }, async () => {
  const root = tempFolder(TREE);
  const registry = await openRoot(root);
  await registry.read('tea', {}, { agentId: 'clerk', threadId: 'mine' });
  expect(await registry.usage.events()).toHaveLength(1);
  const database = openSqlite(join(root, 'data/skill_registry/usage.db'));
  database.exec(FULL_USAGE);
  database.close();
  const startedAt = performance.now();
  const { totals, skills, agents, failing } = await registry.usage.report({ since: '180d' });
  process.stdout.write(`a report over 180,000 events: ${Math.round(performance.now() - startedAt)} ms\n`);
  expect(totals).toMatchObject({ loads: 126_001, resources: 18_000, refusals: 18_000, failures: 18_000 });
  expect([skills.length, agents.length, failing.length]).toEqual([901, 21, 50]);
  expect(await registry.usage.events({ thread: 'thread-7' })).toHaveLength(90);
  expect(await registry.usage.events({ thread: 'mine' })).toHaveLength(1);
});
