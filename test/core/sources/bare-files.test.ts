import { describe, expect, it } from 'vitest';
import { openRoot } from '../../helpers/open-registry.ts';
import { skillMd, type Tree, tempFolder } from '../../helpers/temp-folder.ts';

const note = (name: string): string => skillMd({ name, description: `Does ${name}.` }, `Body of ${name}.`);
const TREE: Tree = {
  'notes/tea.md': note('tea'),
  'notes/cup.MD': note('cup'),
  'notes/README.md': 'About this folder.',
  'notes/.hidden.md': note('hidden'),
  'notes/.md': note('nameless'),
  'notes/drink.txt': note('drink'),
  'notes/deep/far.md': note('far'),
  'notes/pot/SKILL.md': note('pot'),
  'notes/pot/guide.md': 'Guide.',
  'notes/secret.txt': 'x',
};

async function open(tree: Tree, source: object, trust = true) {
  const root = tempFolder(tree);
  const registry = await openRoot(root, { config: { sources: [source] as never }, trust });
  const ids = registry.snapshot().skills.map(({ qualifiedId }) => qualifiedId);
  return { root, registry, ids, codes: registry.problems().map(({ code }) => code) };
}

describe('a Markdown file directly in a source', () => {
  it('is no skill, unless the config says so', async () => {
    expect(await open(TREE, { path: 'notes' })).toMatchObject({ ids: ['notes:pot'], codes: [] });
  });

  it('is one with bare_files, by its name, without files and never to be changed', async () => {
    const { registry, ids, codes } = await open(TREE, { path: 'notes', bare_files: true });
    expect([ids, codes]).toEqual([['notes:cup.MD', 'notes:pot', 'notes:tea.md'], []]);
    expect(await registry.read('tea')).toMatchObject({ content: 'Body of tea.', resources: [] });
    await expect(registry.readResource('tea', 'secret.txt')).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
    await expect(registry.readResource('tea', '../x')).rejects.toMatchObject({ code: 'PATH_TRAVERSAL' });
    const write = registry.admin.management.write('tea', 'SKILL.md', note('tea'), { by: 'person:ada' });
    await expect(write).rejects.toMatchObject({ code: 'SOURCE_NOT_WRITABLE' });
    expect((await registry.readResource('pot', 'guide.md')).content).toBe('Guide.');
  });

  it('is a file of the skill where the source is one', async () => {
    const { ids, registry } = await open(
      { 'tea/SKILL.md': note('tea'), 'tea/more.md': note('more') },
      {
        path: 'tea',
        bare_files: true,
      },
    );
    expect(ids).toEqual(['tea:.']);
    expect((await registry.read('tea')).resources).toEqual([{ path: 'more.md', size: note('more').length }]);
  });

  it('loses its id to a folder of that name, which is said', async () => {
    const { ids, codes, registry } = await open(
      { ...TREE, 'notes/tea/SKILL.md': note('tea ') },
      {
        path: 'notes',
        bare_files: true,
      },
    );
    expect(ids).toEqual(['notes:cup.MD', 'notes:pot', 'notes:tea.md']);
    expect(codes).toContain('SKILL_ID_TAKEN');
    expect((await registry.read('notes:tea')).content).toBe('Body of tea .');
  });

  it('may be a link as a folder may, and an ignore file may name it', async () => {
    const links = (far: string): Tree => ({
      'notes/out.md': { link: `${far}/x.md` },
      'notes/gone.md': { link: `${far}/none.md` },
      'notes/key.md': { link: `${far}/id_rsa` },
      'notes/.gitignore': 'cup.MD\n',
    });
    const far = { 'x.md': note('x'), id_rsa: note('key') };
    const source = { path: 'notes', bare_files: true, ignore_files: true };
    const closed = await open({ ...TREE, ...links(tempFolder(far)) }, source);
    expect(closed.ids).toEqual(['notes:pot', 'notes:tea.md']);
    expect([...closed.codes].sort()).toEqual(['SOURCE_RESERVED', 'SYMLINK_BROKEN', 'SYMLINK_OUTSIDE']);
    const inRoot = { 'far/x.md': note('x'), 'far/id_rsa': note('key') };
    const within = await open({ ...TREE, ...inRoot, ...links('../far') }, source);
    expect(within.ids).toEqual(['notes:out.md', 'notes:pot', 'notes:tea.md']);
  });

  it('is one in the folders of a preset, too', async () => {
    const tree = { '.git/HEAD': '', '.claude/skills/tea.md': note('tea') };
    expect((await open(tree, { preset: 'claude', bare_files: true })).ids).toEqual(['claude:tea.md']);
  });
});
