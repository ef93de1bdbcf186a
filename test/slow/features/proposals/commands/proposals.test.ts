import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSkillRegistry, type ProposalInput } from 'skill-registry';
import { expect, it } from 'vitest';
import { type RunResult, runCommand } from '../../../../helpers/run-command.ts';
import { LONGER, TEA } from '../../../../helpers/tea.ts';
import { tempFolder } from '../../../../helpers/temp-folder.ts';

/** A root with one skill, and the command in it. */
async function teaRoot(...proposals: readonly Partial<ProposalInput>[]) {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
  const ids: string[] = [];
  for (const proposal of proposals) {
    const input = {
      skillId: 'tea',
      content: LONGER,
      justification: 'It was weak.',
      author: 'agent:brewer',
      ...proposal,
    };
    ids.push((await registry.proposals.propose(input)).proposalId);
  }
  await registry.close();
  const run = (...args: readonly string[]): Promise<RunResult> =>
    runCommand([...args, '--skills', join(root, 'skills')], { cwd: root, environment: { USER: 'ada' } });
  return { root, ids, run, tea: () => readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8') };
}

it('lists what waits, shows one whole, and applies it under the name of whoever is logged in', async () => {
  const { ids, run, tea } = await teaRoot({});
  const [id = ''] = ids;
  const listed = await run('proposals');
  expect(listed.stdout).toMatch(new RegExp(`${id}  open\\s+tea/SKILL.md  agent:brewer`));
  expect(listed.stderr).toBe(
    '1 waiting proposal. To decide: skill-registry proposals review, or in a browser: skill-registry review\n',
  );
  const shown = await run('proposals', 'show', id.slice(-6));
  for (const part of ['+Steep for three minutes.', 'It was weak.', 'Checks', 'tokens'])
    expect(shown.stdout).toContain(part);
  expect(await run('proposals', 'approve', id, '--reason', 'True.')).toMatchObject({
    status: 0,
    stderr: expect.stringContaining(`\nApproved ${id}: tea has revision 2\n`),
  });
  expect(tea()).toBe(LONGER);
  const again = await run('proposals', 'approve', id, '--json');
  expect(again.status).toBe(1);
  expect(JSON.parse(again.stdout)).toMatchObject({ error: { code: 'PROPOSAL_DECIDED' } });
  expect(JSON.parse((await run('proposals', 'show', id, '--json')).stdout)).toMatchObject({
    state: 'approved',
    decision: { by: 'person:ada', reason: 'True.' },
  });
});

it('rejects with a reason only, and keeps it', async () => {
  const { ids, run, tea } = await teaRoot({});
  const [id = ''] = ids;
  expect((await run('proposals', 'reject', id)).status).toBe(2);
  expect((await run('proposals', 'reject', id, '--reason', 'Too long.', '--by', 'eve')).status).toBe(0);
  expect(tea()).toBe(TEA);
  expect((await run('proposals')).stderr).toBe('0 waiting proposals\n');
  const all = JSON.parse((await run('proposals', 'list', '--state', 'all', '--json')).stdout);
  expect(all.proposals).toMatchObject([{ state: 'rejected', decision: { by: 'person:eve', reason: 'Too long.' } }]);
});

it('lets no agent decide, by whatever command', async () => {
  const { ids, run, tea } = await teaRoot({});
  const [id = ''] = ids;
  const by = ['--by', 'agent:brewer'];
  const asked = [
    ['proposals', 'approve', id, '--yes', ...by],
    ['proposals', 'reject', id, '--yes', '--reason', 'No.', ...by],
    ['proposals', 'purge', id, ...by],
    ['proposals', 'approve', id, '--yes', '--by', 'tool:ci'],
    ['rollback', 'tea', '1', '--yes', ...by],
    ['trust', 'allow', ...by],
  ];
  for (const one of asked) {
    const { status, stderr } = await run(...one);
    expect([one, status, stderr]).toEqual([one, 2, expect.stringContaining('INVALID_ARGUMENT: Only a person decides')]);
  }
  expect(tea()).toBe(TEA);
  const all = JSON.parse((await run('proposals', 'list', '--json')).stdout);
  expect(all.proposals).toMatchObject([{ state: 'open' }]);
});

it('shows history, differences and old contents, and goes back', async () => {
  const { ids, run, tea } = await teaRoot({});
  await run('proposals', 'approve', ids[0] ?? '');
  const { stdout } = await run('history', 'tea');
  expect(stdout).toMatch(/^REVISION.*\n +2 .* proposal +person:ada .*\n +1 .* seen /);
  expect((await run('diff', 'tea', '1', '2')).stdout).toContain('-Steep for two minutes.\n+Steep for three minutes.\n');
  expect((await run('show', 'tea', '--revision', '1')).stdout).toBe(TEA);
  expect(await run('rollback', 'tea', '1', '--reason', 'It was right.')).toMatchObject({ status: 0 });
  expect(tea()).toBe(TEA);
  expect((await run('rollback', 'tea', '1')).stderr).toBe(
    'tea has the content of revision 1 already; nothing was changed\n',
  );
  expect((await run('diff', 'tea', '1', '1')).stderr).toBe('There is no difference\n');
  const { revisions } = JSON.parse((await run('history', 'tea', '--json')).stdout);
  expect(revisions).toMatchObject([
    { kind: 'seen' },
    { kind: 'proposal' },
    { kind: 'rollback', reason: 'It was right.' },
  ]);
  const stats = JSON.parse((await run('proposals', 'stats', '--json')).stdout);
  expect(stats.all).toMatchObject({ approved: 1, acceptance_rate: 1, rolled_back_within_30_days: 1 });
  expect(stats.by_agent['agent:brewer']).toEqual(stats.all);
  expect((await run('proposals', 'stats')).stdout).toContain('100 %');
});

it('brings back what was removed', async () => {
  const { root, run, tea } = await teaRoot();
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
  await registry.admin.management.remove('tea', { by: 'person:ada' });
  await registry.close();
  expect((await run('show', 'tea')).status).toBe(1);
  expect((await run('restore', 'tea')).status).toBe(0);
  expect(tea()).toBe(TEA);
  expect(await run('restore', 'tea')).toMatchObject({ status: 1, stderr: expect.stringContaining('SKILL_EXISTS') });
});

it('says what was changed by hand in a skill while it was removed', async () => {
  const { root, run, tea } = await teaRoot();
  expect(await run('remove', 'tea', '--yes')).toMatchObject({ status: 0 });
  const archive = join(root, 'data/skill_registry/.archive');
  const [folder = ''] = readdirSync(archive);
  writeFileSync(join(archive, folder, 'SKILL.md'), TEA.replace('two', 'nine'));
  const { status, stderr } = await run('restore', 'tea');
  expect([status, stderr]).toEqual([0, expect.stringContaining('-Steep for two minutes.\n+Steep for nine minutes.')]);
  expect(tea()).toContain('nine');
});

it('names what was removed to who restores another id', async () => {
  const { run } = await teaRoot();
  expect((await run('restore', 'te')).stderr).toContain('Nothing was removed here.');
  expect(await run('remove', 'tea', '--yes')).toMatchObject({ status: 0 });
  expect(await run('restore', 'te')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('To restore: "tea".'),
  });
  expect(await run('restore', 'tea')).toMatchObject({ status: 0 });
});

it('says what is wrong with ids and revisions that do not exist', async () => {
  const { run } = await teaRoot();
  expect(await run('proposals', 'show', 'nothing')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('PROPOSAL_NOT_FOUND'),
  });
  expect(await run('history', 'te')).toMatchObject({ status: 1, stderr: expect.stringContaining('Nearest: tea') });
  expect(await run('rollback', 'tea', '9')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('REVISION_NOT_FOUND'),
  });
});

it('shows control characters of a proposal and does not send them to the terminal', async () => {
  const justification = 'Fine\u001b[2J\u202e.';
  const { ids, run, root } = await teaRoot({ justification });
  const shown = (await run('proposals', 'show', ids[0] ?? '')).stdout;
  const file = readFileSync(join(root, 'data/skill_registry/proposals', `${ids[0]}.md`), 'utf8');
  for (const text of [shown, file]) for (const hidden of ['\u001b', '\u202e']) expect(text).not.toContain(hidden);
  expect(file).toContain('⟦U+202E⟧');
});

it('leaves nothing behind where nothing was written', async () => {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
  mkdirSync(join(root, 'extensions'));
  writeFileSync(join(root, 'extensions/.keep'), '');
  const { stdout } = await runCommand(['proposals', 'stats', '--json', '--root', root]);
  expect(JSON.parse(stdout).all).toMatchObject({ open: 0, acceptance_rate: null, hours_to_decision: null });
  for (const args of [
    ['history', 'nosuch'],
    ['restore', 'nosuch'],
    ['proposals', 'show', 'nosuch'],
  ]) {
    expect((await runCommand([...args, '--root', root])).stderr).toContain('_NOT_FOUND');
  }
  expect(existsSync(join(root, 'data/skill_registry/history.db'))).toBe(false);
});
