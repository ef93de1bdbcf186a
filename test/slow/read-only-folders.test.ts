import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import type { Problem } from 'skill-registry/kernel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../lib/sqlite/index.ts';
import { CANNOT_MOUNT, type Disk, readOnlyView, smallDisk } from '../helpers/file-systems.ts';
import { runCommand } from '../helpers/run-command.ts';
import { ADA, LONGER, TEA } from '../helpers/tea.ts';
import { type Tree, tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { treeOf } from '../helpers/tree-of.ts';
import { waitFor } from '../helpers/wait-for.ts';

interface Kept {
  readonly root: string;
  readonly id: string;
}

/** A root whose data folder is a disk of its own, with two revisions and an open proposal. */
async function onDisk(): Promise<Kept & { readonly disk: Disk }> {
  const disk = smallDisk('3m');
  return { disk, ...(await withHistory({ data: { link: disk.dir } })) };
}

async function withHistory(tree: Tree = {}): Promise<Kept> {
  const root = tempFolder({ 'skills/tea/SKILL.md': TEA, ...tree });
  const registry = await open(root);
  await registry.history.revisions('tea');
  await registry.admin.management.write('tea', 'SKILL.md', LONGER, ADA);
  const content = LONGER.replace('Serve.', 'Serve with milk.');
  const { proposalId: id } = await registry.proposals.propose({ skillId: 'tea', content, justification: 'Needed.' });
  await registry.close();
  return { root, id };
}

async function open(root: string, more: object = {}): Promise<SkillRegistry> {
  const registry = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] }, ...more });
  onTestFinished(() => registry.close());
  return registry;
}

/** Everything that reads of the history and of proposals. */
async function readsEverything({ history, proposals }: SkillRegistry, id: string): Promise<void> {
  expect((await history.revisions('tea')).map(({ kind }) => kind)).toEqual(['seen', 'tool']);
  expect((await history.read('tea', 1)).toString()).toBe(TEA);
  expect(await history.diff('tea', 1, 2)).toContain('+Steep for three minutes.');
  expect(await proposals.list()).toMatchObject([{ id, state: 'open' }]);
  expect(await proposals.get(id)).toMatchObject({ state: 'open', diff: expect.stringContaining('+Serve with milk.') });
  expect((await proposals.stats()).all.open).toBe(1);
}

/** In another process. */
function changeElsewhere(root: string, args: object): void {
  const child = join(import.meta.dirname, '..', 'helpers', 'change-child.mjs');
  const { stdout } = spawnSync(process.execPath, [child, JSON.stringify({ root, action: 'write', args })]);
  expect(String(stdout)).toContain('done');
}

const copies = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('skill-registry-history-'));

describe.skipIf(CANNOT_MOUNT !== '')(`a data folder that may not be written ${CANNOT_MOUNT}`, () => {
  it('can be read: revisions, proposals, figures; and what would change something says why it cannot', async () => {
    const { root, disk, id } = await onDisk();
    disk.setReadOnly(true);
    const registry = await open(root);
    await readsEverything(registry, id);
    const changes = {
      approve: registry.proposals.approve(id, ADA),
      reject: registry.proposals.reject(id, { ...ADA, reason: 'No.' }),
      rollback: registry.history.rollback('tea', 1, ADA),
      write: registry.admin.management.write('tea', 'SKILL.md', TEA, ADA),
      propose: registry.proposals.propose({ skillId: 'tea', content: TEA, justification: 'Back.' }),
    };
    for (const [name, change] of Object.entries(changes))
      await expect(change, name).rejects.toMatchObject({
        code: 'WRITE_FAILED',
        message: expect.not.stringContaining('damaged'),
      });
    expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toBe(LONGER);
    expect(registry.problems().map(({ code }) => code)).not.toContain('HISTORY_DAMAGED');
    await waitFor('copies to be gone', () => copies().length === 0);

    disk.setReadOnly(false);
    await registry.proposals.approve(id, ADA);
    expect(await registry.history.revisions('tea')).toHaveLength(3);
  });

  it('can be read by the command, with status 0', async () => {
    const { root, disk, id } = await onDisk();
    disk.setReadOnly(true);
    const run = (...args: string[]) => runCommand([...args, '--root', root]);
    const shown = {
      list: await run('list', '--json'),
      show: await run('show', 'tea', '--revision', '1'),
      history: await run('history', 'tea'),
      diff: await run('diff', 'tea', '1', '2'),
      proposals: await run('proposals', 'list'),
      proposal: await run('proposals', 'show', id),
      stats: await run('proposals', 'stats'),
    };
    for (const [name, { status, stdout, stderr }] of Object.entries(shown))
      expect([status, stderr, stdout === ''], name).toEqual([0, expect.not.stringMatching(/error|damaged/i), false]);
    const { status, stderr } = await run('proposals', 'approve', id);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/WRITE_FAILED: .*may not be written|WRITE_FAILED: .*cannot be opened for writing/),
    ]);
  });

  it('shows what another process has written last, and says which report somebody has edited', async () => {
    const { root, id } = await withHistory();
    const writer = await open(root);
    await writer.admin.management.write('tea', 'references/a.md', 'a\n', ADA);
    const { file } = await writer.proposals.get(id);
    const reader = await open(readOnlyView(root));
    expect((await reader.history.revisions('tea')).map(({ kind }) => kind)).toEqual(['seen', 'tool', 'tool']);
    await writer.admin.management.write('tea', 'references/a.md', 'b\n', ADA);
    expect(await reader.history.revisions('tea')).toHaveLength(4);
    const content = LONGER.replace('Serve.', 'Serve with lemon.');
    await writer.proposals.edit(id, { content, ...ADA });
    writeFileSync(file, 'What I think.');
    expect(await reader.proposals.get(id)).toMatchObject({
      diff: expect.stringContaining('+Serve with lemon.'),
      problem: { code: 'PROPOSAL_FILE_EDITED', file: expect.stringMatching(/\.md$/) },
    });
    // Kept by whoever may write.
    const kept = file.replace(/\.md$/, '.edited.md');
    expect(await writer.proposals.get(id)).toMatchObject({ problem: { file: kept } });
    await writer.close();
    expect(await reader.history.revisions('tea')).toHaveLength(4);
  });

  it('is a warning while the registry watches, told once, until it may be written again', async () => {
    const { root, disk } = await onDisk();
    disk.setReadOnly(true);
    const told: string[] = [];
    const registry = await open(root, { onProblem: ({ code, severity }: Problem) => told.push(`${severity} ${code}`) });
    const abort = new AbortController();
    const watching = registry.watch(abort.signal);
    const unwritten = () => registry.problems().filter(({ code }) => code === 'WRITE_FAILED');
    await waitFor('the warning', () => unwritten().length === 1);
    writeFileSync(join(root, 'skills/tea/SKILL.md'), TEA.replace('Brews', 'Makes'));
    await waitFor('the change', () => registry.snapshot().byId.get('tea')?.description === 'Makes tea.');
    expect(told).toEqual(['warning WRITE_FAILED']);
    disk.setReadOnly(false);
    writeFileSync(join(root, 'skills/tea/SKILL.md'), TEA);
    await waitFor('the warning to go', () => unwritten().length === 0);
    abort.abort();
    await watching;
    expect((await registry.history.revisions('tea')).map(({ kind }) => kind)).toEqual(['seen', 'tool', 'edited']);
  });

  it('is the same when the database alone may not be written, and on a disk that is full', async () => {
    const { root, disk, id } = await onDisk();
    const file = join(root, 'data/skill_registry/history.db');
    readOnlyView(file, file);
    const registry = await open(root);
    await readsEverything(registry, id);
    await expect(registry.proposals.approve(id, ADA)).rejects.toMatchObject({ code: 'WRITE_FAILED' });
    disk.fill();
    await readsEverything(await open(root), id);
    disk.free();
    execFileSync('mount', ['-o', 'remount,rw,bind', file]);
    expect(await registry.proposals.approve(id, ADA)).toMatchObject({ state: 'approved' });
  });
});

describe('a root in which nothing is to be ended', () => {
  it.skipIf(process.platform !== 'linux')('takes no lock from whoever has it open in the same process', async () => {
    const { root, id } = await withHistory();
    const file = join(root, 'data/skill_registry/history.db');
    const locks = (): readonly string[] =>
      readFileSync('/proc/locks', 'utf8')
        .split('\n')
        .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${statSync(file).ino} `))
        .map((line) => line.replace(/^\d+: /, ''));
    const owner = await open(root);
    await owner.history.revisions('tea');
    const before = locks();
    expect(before).not.toEqual([]);
    await readsEverything(await open(root, { trust: false }), id);
    expect(locks()).toEqual(before);
  });

  it('is read without a byte written below data, and changed by whoever names what', async () => {
    const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
    const first = await open(root);
    await first.history.revisions('tea');
    await first.admin.management.write('tea', 'SKILL.md', LONGER, ADA);
    const content = LONGER.replace('Serve.', 'Serve with milk.');
    const { proposalId: id, file } = await first.proposals.propose({
      skillId: 'tea',
      content,
      justification: 'Needed.',
    });
    await first.close();
    writeFileSync(file, readFileSync(file, 'utf8').replace('Needed.', 'Needed, says somebody else.'));
    // Its file is to be written, which is no reason to write it.
    const database = openSqlite(join(root, 'data/skill_registry/history.db'));
    database.exec('UPDATE proposal SET file_due = 1');
    database.close();
    writeTree(root, { 'skills/coffee/SKILL.md': '---\nname: coffee\ndescription: Coffee.\n---\n\nCoffee.\n' });
    const before = treeOf(join(root, 'data'));
    const registry = await open(root, { trust: false, cache: 'memory' });
    await readsEverything(registry, id);
    expect(await registry.history.revisions('coffee')).toEqual([]);
    await registry.watch(AbortSignal.timeout(1_500));
    expect(treeOf(join(root, 'data'))).toEqual(before);
    changeElsewhere(root, { path: 'references/a.md', content: 'a\n' });
    expect(await registry.history.revisions('tea')).toHaveLength(3);
    await expect(registry.proposals.approve(id, ADA)).rejects.toMatchObject({ code: 'PROPOSAL_FILE_EDITED' });
    expect(await registry.proposals.approve(id, ADA)).toMatchObject({ state: 'approved' });
    expect(readFileSync(join(root, 'skills/tea/SKILL.md'), 'utf8')).toBe(content);
    expect(readFileSync(file.replace(/\.md$/, '.edited.md'), 'utf8')).toContain('says somebody else');
  });
});
