import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { extract } from 'tar';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type RunResult, runCommand } from '../helpers/run-command.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

/**
 * A root, the state and the caches of a user, as release 0.1.0 left them: a person had approved the root, the finding in one skill of
 * the root, and the content of an installed one; an agent had read a skill and proposed three changes, of which one was approved and
 * one rejected.
 */
async function openRelease(): Promise<(...args: readonly string[]) => Promise<RunResult>> {
  const base = tempFolder();
  await extract({ file: join(import.meta.dirname, 'release-0.1.0.tar.gz'), cwd: base });
  const trust = join(base, 'state', 'skill-registry', 'trust.jsonl');
  writeFileSync(trust, readFileSync(trust, 'utf8').replaceAll('@BASE@', base));
  vi.stubEnv('XDG_STATE_HOME', join(base, 'state'));
  vi.stubEnv('XDG_CACHE_HOME', join(base, 'cache'));
  // The figures of usage are kept for half a year.
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-24T12:00:00Z') });
  onTestFinished(() => {
    vi.unstubAllEnvs();
    vi.useRealTimers();
  });
  return (...args) => runCommand(args, { cwd: join(base, 'root'), trust: false });
}

const json = ({ stdout }: RunResult): unknown => JSON.parse(stdout);

it('opens a root of release 0.1.0 as approved, and holds the one skill that nobody allowed', async () => {
  const run = await openRelease();
  const listed = await run('list', '--json');
  expect(listed).toMatchObject({ status: 0 });
  const { skills, problems } = json(listed) as { skills: { skill_id: string }[]; problems: { message: string }[] };
  expect(skills.map(({ skill_id }) => skill_id)).toEqual(['allowed-here', 'brew-tea', 'brought-in', 'still-held']);
  expect(problems).toMatchObject([{ code: 'SKILL_HELD', message: expect.stringContaining('"still-held"') }]);
});

it('keeps the history of release 0.1.0, approves its open proposal, and rolls back to its first revision', async () => {
  const run = await openRelease();
  const { proposals } = json(await run('proposals', 'list', '--state', 'all', '--json')) as {
    proposals: { id: string; state: string }[];
  };
  expect(proposals.map(({ state }) => state).sort()).toEqual(['approved', 'open', 'rejected']);
  const open = proposals.find(({ state }) => state === 'open')?.id ?? '';
  expect(await run('proposals', 'approve', open, '--by', 'ann', '--reason', 'good')).toMatchObject({ status: 0 });
  const { revisions } = json(await run('history', 'brew-tea', '--json')) as { revisions: { number: number }[] };
  expect(revisions.map(({ number }) => number)).toEqual([1, 2, 3]);
  expect((await run('show', 'brew-tea')).stdout).toContain('Then wait three minutes.');
  expect(await run('rollback', 'brew-tea', '1', '--yes')).toMatchObject({ status: 0 });
  expect((await run('show', 'brew-tea')).stdout).not.toContain('wait');
});

it('reads the lock and the figures of release 0.1.0', async () => {
  const run = await openRelease();
  const verified = await run('verify');
  expect(verified).toMatchObject({ status: 0 });
  expect(verified.stdout).toMatch(/brought-in\s+same/);
  expect(json(await run('stats', '--json'))).toMatchObject({ totals: { loads: 1, offers: 3, tokens: 5 } });
});
