import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { heldExtensions, holdExtensionFile, revokeExtension } from '../../kernel/host.ts';
import { openSqlite } from '../../lib/sqlite/index.ts';
import { openRoot } from '../helpers/open-registry.ts';
import { runCommand } from '../helpers/run-command.ts';
import { skillMd, tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { treeOf } from '../helpers/tree-of.ts';
import { workspace } from '../helpers/workspace.ts';

const TEA = skillMd({ name: 'tea', description: 'Brew tea.' });
const SECRET = 'token=hunter2';
const ADA = { by: 'person:ada' };

/** A folder of somebody's, outside of every root. */
const victim = (): string =>
  tempFolder({
    'tea/SKILL.md': skillMd({ name: 'stolen', description: SECRET }),
    'notes.txt': SECRET,
    'box/files/thesis.txt': SECRET,
    '.held/box/files/thesis.txt': SECRET,
    'skill_registry/history.db': SECRET,
  });

describe('a root that nobody has approved', () => {
  it.each<[string, string, readonly unknown[] | undefined]>([
    ['skills/, the default', 'skills', undefined],
    ['a configured folder', 'mine', [{ path: 'mine' }]],
    ['a configured file', 'note.md', [{ path: 'note.md' }]],
    ['a preset', '.claude/skills', [{ preset: 'claude' }]],
  ])('gives no skill that lies in it by a link only: %s', async (_title, link, sources) => {
    const outside = victim();
    const root = tempFolder({ '.claude/.keep': '' });
    symlinkSync(link.endsWith('.md') ? join(outside, 'tea/SKILL.md') : outside, join(root, link));
    const before = treeOf(outside);
    const config = sources ? { sources: sources as never } : {};
    const registry = await openRoot(root, { config, trust: false });
    expect(JSON.stringify(registry.snapshot().skills)).not.toContain(SECRET);
    const problem = registry.problems().find(({ code }) => code === 'ROOT_NOT_APPROVED');
    expect(problem?.message).toContain(`${link} (a link that leads out of it)`);
    expect(problem?.message).toContain(`approvals allow ${root}`);
    const content = skillMd({ name: 'new', description: 'New.' });
    await expect(registry.admin.management.create('new', content, ADA)).rejects.toMatchObject({
      code: 'SOURCE_NOT_WRITABLE',
    });
    expect(treeOf(outside)).toEqual(before);
    const approved = await openRoot(root, { config });
    expect(approved.problems().map(({ code }) => code)).not.toContain('ROOT_NOT_APPROVED');
    expect(JSON.stringify(approved.snapshot().skills)).toContain(SECRET);
  });

  it('says so on the command line, too', async () => {
    const root = tempFolder();
    symlinkSync(victim(), join(root, 'skills'));
    const { stdout, stderr } = await runCommand(['doctor', '--root', root], { trust: false });
    expect(stdout + stderr).toContain('skills (a link that leads out of it)');
    expect(stdout + stderr).not.toContain(SECRET);
  });

  it.each(['skills', 'extensions'])('has no file tool that follows %s/ out of it', async (folder) => {
    const outside = victim();
    const { root, codeOf } = await workspace({}, {}, { trusted: false });
    rmSync(join(root, folder), { recursive: true });
    symlinkSync(outside, join(root, folder));
    const before = treeOf(outside);
    expect(await codeOf('list_files', { path: folder })).toBe('PATH_TRAVERSAL');
    for (const path of [`${folder}/notes.txt`, `${folder}/new/x.txt`]) {
      expect(await codeOf('read_file', { path })).toBe('PATH_TRAVERSAL');
      expect(await codeOf('write_file', { path, content: 'gone' })).toBe('PATH_TRAVERSAL');
    }
    expect(treeOf(outside)).toEqual(before);
  });

  it('writes and reads nothing where data/ leads out of it, by no door', async () => {
    const outside = victim();
    const place = await workspace({ 'extensions/box/manifest.yaml': '' }, {}, { trusted: false });
    rmSync(join(place.root, 'data'), { recursive: true, force: true });
    symlinkSync(outside, join(place.root, 'data'));
    const before = treeOf(outside);
    const proposal = { skillId: 'good', path: 'a.md', content: 'A.', justification: 'x' };
    await expect(place.registry.proposals.propose(proposal)).rejects.toMatchObject({ code: 'PATH_TRAVERSAL' });
    await expect(place.registry.history.revisions('good')).rejects.toMatchObject({ code: 'PATH_TRAVERSAL' });
    const file = { path: 'extensions/box/files/thesis.txt', content: 'gone' };
    expect(await place.codeOf('write_file', file)).toBe('PATH_TRAVERSAL');
    expect(await place.codeOf('read_file', file)).toBe('INVALID_ARGUMENT');
    for (const args of [['list'], ['show', 'box'], ['approve', 'box', '--digest', 'x'], ['revoke', 'box']]) {
      const { stdout, stderr } = await runCommand(['extensions', ...args, '--root', place.root], { trust: false });
      expect(stdout + stderr).not.toMatch(/thesis|wait/);
    }
    expect(treeOf(outside)).toEqual(before);
    expect(existsSync(join(place.root, 'extensions/box/manifest.yaml'))).toBe(true);
  });
});

describe('in every root', () => {
  it.each(['history.db', 'write.lock', 'history.db-wal'])('no %s is reached through a link', async (name) => {
    const outside = tempFolder();
    const mail = join(outside, 'mail.db');
    const database = openSqlite(mail);
    database.exec("CREATE TABLE mail (t); INSERT INTO mail VALUES ('precious')");
    database.close();
    for (const target of [mail, join(outside, 'none.db')]) {
      const root = tempFolder({ 'skills/tea/SKILL.md': TEA, 'data/skill_registry/.keep': '' });
      symlinkSync(target, join(root, 'data/skill_registry', name));
      const before = treeOf(outside);
      for (const trust of [true, false]) {
        const registry = await openRoot(root, { trust });
        const refused = { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('Remove the link') };
        await expect(registry.admin.management.write('tea', 'a.md', 'A.', ADA)).rejects.toMatchObject(refused);
        if (name === 'history.db' && target === mail)
          await expect(registry.history.revisions('tea')).rejects.toMatchObject(refused);
        expect(registry.snapshot().byId.has('tea')).toBe(true);
      }
      expect(treeOf(outside)).toEqual(before);
    }
  });

  it('nothing is done in a data/.held that is a link', () => {
    const outside = victim();
    const root = tempFolder({ 'extensions/box/manifest.yaml': 'id: box\n', 'data/.keep': '' });
    symlinkSync(outside, join(root, 'data/.held'));
    const before = treeOf(outside);
    expect(heldExtensions(root)).toEqual([]);
    const refused = expect.objectContaining({
      code: 'WRITE_FAILED',
      message: expect.stringContaining('Remove the link'),
    });
    expect(() => holdExtensionFile(root, 'box/x.txt', 'x', 'agent:a')).toThrow(refused);
    expect(() => revokeExtension({ dir: root, trusted: true }, 'box')).toThrow(refused);
    expect(treeOf(outside)).toEqual(before);
    expect(readFileSync(join(root, 'extensions/box/manifest.yaml'), 'utf8')).toBe('id: box\n');
  });

  it('data/ itself may be a link once the root is approved', async () => {
    const root = tempFolder({ 'skills/tea/SKILL.md': TEA });
    const elsewhere = tempFolder();
    symlinkSync(elsewhere, join(root, 'data'));
    const registry = await openRoot(root);
    await registry.admin.management.write('tea', 'a.md', 'A.', ADA);
    expect(existsSync(join(elsewhere, 'skill_registry/history.db'))).toBe(true);
    holdExtensionFile(root, 'box/manifest.yaml', 'id: box\n', 'agent:a');
    expect(heldExtensions(root)).toHaveLength(1);
    mkdirSync(join(root, 'inner'));
    writeTree(root, { 'inner/skills/tea/SKILL.md': TEA, 'inner/store/.keep': '' });
    symlinkSync('store', join(root, 'inner/data'));
    const within = await openRoot(join(root, 'inner'), { trust: false });
    await within.admin.management.write('tea', 'a.md', 'A.', ADA);
    expect(existsSync(join(root, 'inner/store/skill_registry/history.db'))).toBe(true);
  });
});
