import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../../../../cli/run-cli.ts';
import { skill } from '../../../helpers/boot-root.ts';
import { openRoot } from '../../../helpers/open-registry.ts';
import { runCommand, spawnCommand } from '../../../helpers/run-command.ts';
import { tempFolder } from '../../../helpers/temp-folder.ts';

const LONG = 'a-skill-with-a-very-long-name-that-does-not-fit-on-a-narrow-screen';

/** A root in which agents have used skills. */
async function usedRoot(): Promise<string> {
  const root = tempFolder({
    'data/.keep': '',
    ...skill('tea'),
    'skills/tea/times.md': 'Two.',
    ...skill('bread'),
    ...skill(LONG),
  });
  const registry = await openRoot(root);
  const turn = { agentId: 'clerk', threadId: 'thread-1' };
  await registry.context('tea', turn);
  registry.list({}, turn);
  await registry.read('tea', {}, turn);
  await registry.readResource('tea', 'times.md', turn);
  await registry.read(LONG, {}, { agentId: 'other' });
  await registry.read('bred', {}, turn).catch(() => undefined);
  await registry.admin.management.write('tea', 'SKILL.md', (text) => text.replace('Body', 'Leaf'), {
    by: 'person:ada',
  });
  await registry.read('tea', {}, turn);
  await registry.close();
  return root;
}

it('writes nothing down where no agent has done anything: people who list, search and show', async () => {
  const root = tempFolder({ 'data/.keep': '', ...skill('tea') });
  for (const command of [['list'], ['search', 'tea'], ['show', 'tea'], ['stats']])
    expect(await runCommand([...command, '--root', root])).toMatchObject({ status: 0 });
  expect(existsSync(join(root, 'data/skill_registry/cache.db'))).toBe(true);
  expect(existsSync(join(root, 'data/skill_registry/usage.db'))).toBe(false);
});

it('shows what is used, by whom, what it costs and what fails, as a process', async () => {
  const root = await usedRoot();
  const { status, stdout, stderr } = await spawnCommand(['stats', '--root', root]);
  expect([status, stderr]).toEqual([0, '']);
  const [range, ...lines] = stdout.split('\n');
  expect(range).toMatch(/^\d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d \(UTC\)$/);
  expect(lines[0]).toMatch(/^3 loads, 1 file, \d+ tokens$/);
  expect(lines.slice(1, 3)).toEqual(['6 offers, 0 refusals, 1 failure', '1 skill not loaded: --dead lists them']);
  const rows = stdout.replace(/\d{4}-\d\d-\d\d/g, 'DAY').replace(/ +/g, ' ');
  expect(rows).toContain('LOADS OFFERED NOT TAKEN TOKENS FILES REFUSED FAILED AGENTS LAST LOAD SKILL');
  expect(rows).toMatch(/ 2 2 0 \d+ 1 0 0 1 DAY tea\n/);
  expect(rows).toMatch(/ 0 2 2 0 0 0 0 0 never bread\n/);
  expect(rows).toMatch(/ 2 6 \d+ 1 clerk\n 1 0 \d+ 0 other\n/);
  expect(rows).toMatch(/ 1 SKILL_NOT_FOUND bred\n/);
});

it.each([60, 80, 100, 160])('fits a terminal of %i columns, and names every skill at its end', async (columns) => {
  const root = await usedRoot();
  let stdout = '';
  const status = await runCli(['stats', '--trust', '--root', root], {
    ...{ cwd: root, environment: {}, terminal: true, columns, progress: false },
    input: async () => Buffer.from(''),
    out: (data) => {
      stdout += Buffer.from(data).toString();
    },
    err: () => {},
  });
  expect(status).toBe(0);
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns);
  expect(stdout).toMatch(/ tea\n/);
  expect(stdout).toMatch(columns >= 120 ? / a-skill-with.*screen\n/ : / a-skill-w.*…\n/);
});

it('names the dead ones, one skill, or one agent', async () => {
  const root = await usedRoot();
  const dead = await runCommand(['stats', '--dead', '--root', root]);
  expect(dead.stdout).toContain('1 skill not loaded by any agent\n');
  expect(dead.stdout.replace(/ +/g, ' ')).toContain('OFFERED LAST LOAD SKILL\n 2 never bread\n');
  const one = JSON.parse((await runCommand(['stats', 'tea', '--json', '--root', root])).stdout);
  expect(one.skills).toMatchObject([{ skill_id: 'tea', offers: 2, loads: 2, resources: 1, not_taken: 0, agents: 1 }]);
  expect(one.dead).toEqual([]);
  const other = JSON.parse((await runCommand(['stats', '--agent', 'other', '--json', '--root', root])).stdout);
  expect(other).toMatchObject({ totals: { loads: 1, offers: 0 }, agents: [{ agent: 'other' }], not_kept: null });
  expect(other.days).toHaveLength(31);
});

it('shows a conversation in order, with the digest and the revision that shaped it', async () => {
  const root = await usedRoot();
  const { status, stdout } = await runCommand(['stats', '--thread', 'thread-1', '--json', '--root', root]);
  expect(status).toBe(0);
  const { events } = JSON.parse(stdout);
  expect(events).toMatchObject([
    { kind: 'load', skill_id: 'tea', revision: 1, agent: 'clerk', outcome: 'success', duration_ms: expect.any(Number) },
    { kind: 'resource', skill_id: 'tea', revision: 1 },
    { kind: 'failure', skill_id: 'bred', outcome: 'SKILL_NOT_FOUND' },
    { kind: 'load', skill_id: 'tea', revision: 2 },
  ]);
  const table = (await runCommand(['stats', '--thread', 'thread-1', '--root', root])).stdout;
  expect(table).toMatch(/load +[0-9a-f]{8} +2 +tea, clerk\n$/);
  expect(table).toMatch(/failure +- +- +bred \(SKILL_NOT_FOUND\), clerk\n/);
  expect((await runCommand(['stats', '--thread', 'gone', '--root', root])).status).toBe(1);
});

it.each(['soon', '30', '2026-02-30', '3000-01-01'])(
  'is wrong use with --since %s, and says what it expects',
  async (since) => {
    const root = tempFolder({ 'data/.keep': '', ...skill('tea') });
    const { status, stderr } = await runCommand(['stats', '--since', since, '--root', root]);
    expect(status).toBe(2);
    expect(stderr).toContain('12h, 30d or 2w');
  },
);

it('finds nothing for an id that was neither used nor is there, and names the nearest', async () => {
  const root = await usedRoot();
  const { status, stderr } = await runCommand(['stats', 'breed', '--root', root]);
  expect(status).toBe(1);
  expect(stderr).toContain('Nearest: bread');
  // It is in the figures: an agent asked for it.
  expect((await runCommand(['stats', 'bred', '--root', root])).status).toBe(0);
});

it('makes no file where it only reads, and says why nothing is kept', async () => {
  const root = tempFolder({ ...skill('tea') });
  const { status, stdout, stderr } = await runCommand(['stats', '--root', root]);
  expect(status).toBe(0);
  expect(stdout).toContain('0 loads');
  expect(stderr).toContain('has no folder data');
  expect(existsSync(join(root, 'data'))).toBe(false);
  const used = await usedRoot();
  const untrusted = await runCommand(['stats', '--root', used], { trust: false });
  expect(untrusted.stdout).toContain('0 loads');
  expect(untrusted.stderr).toContain('Nothing is kept');
});

it('counts no command of a person: show, list, search', async () => {
  const root = await usedRoot();
  const before = (await runCommand(['stats', '--json', '--root', root])).stdout;
  for (const args of [
    ['show', 'tea'],
    ['show', 'tea', '--resource', 'times.md'],
    ['list'],
    ['search', 'tea'],
    ['doctor'],
  ]) {
    await runCommand([...args, '--root', root]);
  }
  const after = (await runCommand(['stats', '--json', '--root', root])).stdout;
  expect(JSON.parse(after).totals).toEqual(JSON.parse(before).totals);
});

it('has the decision of a command in the figures when the process has ended', async () => {
  const root = await usedRoot();
  const registry = await openRoot(root);
  const { proposalId } = await registry.proposals.propose(
    { skillId: 'tea', content: '---\nname: tea\ndescription: New.\n---\n\nNew.\n', justification: 'x' },
    { agentId: 'clerk' },
  );
  await registry.close();
  expect((await spawnCommand(['proposals', 'approve', proposalId, '--yes', '--root', root])).status).toBe(0);
  const events = await (await openRoot(root)).usage.events({ kind: 'proposal' });
  expect(events.map(({ outcome, agent }) => [outcome, agent])).toEqual([
    ['proposed', 'clerk'],
    ['approved', undefined],
  ]);
});
