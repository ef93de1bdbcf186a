import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openRoot } from '../../helpers/open-registry.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const tea = (path: string, fields: Readonly<Record<string, string>> = {}): Tree => ({
  [`${path}/SKILL.md`]: skillMd({ name: 'tea', description: 'Brew tea.', ...fields }, 'Steep it.'),
  [`${path}/references/times.md`]: 'Green: 2 minutes.\n',
});
/** As tools make it that keep skills once and link them for each agent. */
const LINKED: Tree = { ...tea('.agents/skills/tea'), '.claude/skills/tea': { link: '../../.agents/skills/tea' } };
const REPOSITORY: Tree = { '.git/HEAD': '' };
const CLAUDE = [{ path: '.claude/skills', id: 'claude' }];
const BOTH = [...CLAUDE, { path: '.agents/skills', id: 'agents' }];

async function open(tree: Tree, sources: readonly object[], trust = true) {
  const root = tempFolder(tree);
  const registry = await openRoot(root, { config: { sources: sources as never }, trust });
  const { skills, byQualifiedId } = registry.snapshot();
  const codes = registry.problems().map(({ code }) => code);
  return { root, registry, ids: skills.map(({ qualifiedId }) => qualifiedId), all: [...byQualifiedId.keys()], codes };
}

afterEach(() => vi.unstubAllEnvs());

describe('a link to where skills are kept', () => {
  it.each<[string, Tree, readonly object[], readonly string[]]>([
    ['the same root, without a repository', LINKED, CLAUDE, ['claude:tea']],
    ['the same root, from a preset', LINKED, [{ preset: 'claude' }], ['claude:tea']],
    ['another source', LINKED, BOTH, ['claude:tea']],
    ['a source that comes first', LINKED, [...BOTH].reverse(), ['agents:tea']],
    ['the same repository', { ...REPOSITORY, ...LINKED }, CLAUDE, ['claude:tea']],
    ['the same repository, from a work tree of it', { '.git': 'gitdir: x', ...LINKED }, CLAUDE, ['claude:tea']],
    [
      'a folder of skills in the repository',
      { ...REPOSITORY, ...tea('shared/drinks/tea'), '.claude/skills/all': { link: '../../shared' } },
      CLAUDE,
      ['claude:all/drinks/tea'],
    ],
    [
      'a SKILL.md in the repository',
      { ...REPOSITORY, ...tea('shared/tea'), '.claude/skills/tea/SKILL.md': { link: '../../../shared/tea/SKILL.md' } },
      CLAUDE,
      ['claude:tea'],
    ],
    [
      'a single file that is a source',
      { 'tea.md': skillMd({ name: 'tea', description: 'Brew tea.' }), 'skills/tea/SKILL.md': { link: '../../tea.md' } },
      [{ path: 'skills' }, { path: 'tea.md', id: 'file' }],
      ['skills:tea'],
    ],
  ])('is followed, once: %s', async (_, tree, sources, ids) => {
    const found = await open(tree, sources);
    expect(found).toMatchObject({ ids, codes: [] });
    expect((await found.registry.read('tea')).content).toMatch(/^(Steep it|Do it well)\.$/);
  });

  it('is followed by presets, with all its files, and the command is content', async () => {
    const root = tempFolder({
      ...REPOSITORY,
      ...LINKED,
      'data/skill_registry/config.yaml': 'sources: [{ preset: claude }, { preset: agents }]\n',
    });
    const { status, stdout, stderr } = await runCommand(['list', '--root', root, '--json']);
    expect([status, stderr]).toEqual([0, '1 skill\n']);
    expect(JSON.parse(stdout)).toMatchObject({ total: 1, skills: [{ skill_id: 'tea' }], problems: [] });
    const shown = await runCommand(['show', 'tea', '--resource', 'references/times.md', '--root', root]);
    expect(shown.stdout).toContain('Green: 2 minutes.');
  });

  it('is followed into the folders where the user keeps skills', async () => {
    const home = tempFolder(tea('.agents/skills/tea'));
    vi.stubEnv('HOME', home);
    const { ids, codes } = await open(
      { 'skills/tea': { link: join(home, '.agents/skills/tea') }, 'skills/out': { link: home } },
      [{ path: 'skills' }],
    );
    expect([ids, codes]).toEqual([['skills:tea'], ['SYMLINK_OUTSIDE']]);
  });

  it('brings no second warning about the file that it leads to', async () => {
    const warned = tea('.agents/skills/tea', { name: 'other', tags: '7' });
    const link = { '.claude/skills/tea': { link: '../../.agents/skills/tea' } };
    const once = await open({ ...REPOSITORY, ...warned, ...link }, CLAUDE);
    expect(once.codes.length).toBeGreaterThan(0);
    for (const sources of [BOTH, [...BOTH].reverse(), [...BOTH, ...BOTH]])
      expect((await open({ ...warned, ...link }, sources)).codes).toEqual(once.codes);
    const broken = { '.agents/skills/tea/SKILL.md': '', '.claude/skills/tea': { link: '../../.agents/skills/tea' } };
    expect((await open(broken, BOTH)).codes).toEqual((await open(broken, [...BOTH].slice(1))).codes);
  });

  it('is watched: a change where it leads is seen', async () => {
    const { root, registry } = await open({ ...REPOSITORY, ...LINKED }, CLAUDE);
    const stop = new AbortController();
    const watching = registry.watch(stop.signal);
    writeTree(root, tea('.agents/skills/tea', { description: 'Brew green tea.' }));
    await waitFor(
      () => 'the new description',
      () => registry.snapshot().byId.get('tea')?.description === 'Brew green tea.',
    );
    stop.abort();
    await watching;
  });
});

describe('a link to anywhere else', () => {
  const far = (): string => tempFolder({ ...tea('tea'), ...tea('in/tea') });
  it.each<[string, (folder: string) => Tree, (folder: string) => readonly object[]]>([
    ['a folder in no repository', (folder) => ({ 'skills/a': { link: `${folder}/tea` } }), () => []],
    [
      'a folder outside of the repository',
      (folder) => ({ ...REPOSITORY, 'skills/a': { link: `${folder}/tea` } }),
      () => [],
    ],
    ['a folder that holds the source itself', () => ({ ...REPOSITORY, 'skills/a': { link: '..' } }), () => []],
    [
      'a folder of which another source is a part',
      (folder) => ({ 'skills/a': { link: folder } }),
      (folder) => [{ path: `${folder}/in`, id: 'in' }],
    ],
  ])('is not followed: %s', async (_, tree, sources) => {
    const folder = far();
    const { registry, ids } = await open(tree(folder), [{ path: 'skills' }, ...sources(folder)]);
    expect(ids.filter((id) => id.startsWith('skills:'))).toEqual([]);
    expect(registry.problems()).toMatchObject([{ code: 'SYMLINK_OUTSIDE', file: expect.stringMatching('/skills/a$') }]);
  });

  it.each<[string, boolean, (library: string) => string]>([
    ['out of an approved root', true, () => 'skills'],
    ['out of a root that nobody has approved', false, () => 'skills'],
    ['in a folder outside of the root, in no repository', true, (library) => join(library, 'skills')],
  ])('is a problem, and what its message says helps: %s', async (_, trust, placeOf) => {
    const library = tempFolder({ ...tea('shared/tea'), 'skills/tea': { link: '../shared/tea' } });
    const tree = { 'skills/tea': { link: join(library, 'shared/tea') } };
    const source = { path: placeOf(library), id: 'linked' };
    const { root, registry, ids } = await open(tree, [source], trust);
    expect(ids).toEqual([]);
    const message = registry.problems()[0]?.message ?? '';
    expect(message.includes(`approvals allow ${root}`)).toBe(!trust);
    const { path } = /add \{ path: (?<path>\S+) \}/.exec(message)?.groups ?? {};
    const advised = [[source, { path, id: 'named' }], [{ ...source, allow_outside: true }]];
    for (const sources of advised) expect(await open(tree, sources)).toMatchObject({ ids: ['linked:tea'], codes: [] });
  });

  it.each(['.env', '.ssh/id_ed25519', '.git/tea', 'data/tea'])(
    'reads nothing of %s in the repository',
    async (name) => {
      const tree = { ...REPOSITORY, ...tea(name), 'data/skill_registry/.keep': '', 'skills/a': { link: `../${name}` } };
      for (const trust of [true, false]) {
        const { ids, codes } = await open(tree, [{ path: 'skills' }], trust);
        expect([ids, codes]).toEqual([[], ['SOURCE_RESERVED']]);
      }
    },
  );

  it.each(['package', 'pack'])('is not followed out of a %s, which is not its owner to decide', async (kind) => {
    const place = kind === 'pack' ? 'packs' : 'node_modules/brew';
    const { ids, codes } = await open(
      {
        ...REPOSITORY,
        ...tea('.agents/skills/tea'),
        'packs/p.json': JSON.stringify({ id: 'p', skills: ['skills'] }),
        'node_modules/brew/package.json': '{"name":"brew"}',
        [`${place}/skills/tea`]: { link: `${kind === 'pack' ? '../..' : '../../..'}/.agents/skills/tea` },
      },
      [kind === 'pack' ? { pack: 'packs/p.json' } : { package: 'brew' }],
    );
    expect([ids, codes]).toEqual([[], ['SYMLINK_OUTSIDE']]);
  });
});

describe('in a root that nobody has approved', () => {
  it('a link leads to a folder that really lies below the root, once, and nowhere else', async () => {
    const home = tempFolder(tea('.agents/skills/tea'));
    vi.stubEnv('HOME', home);
    const tree = {
      ...LINKED,
      ...tea('unnamed/pot', { name: 'pot' }),
      '.claude/skills/pot': { link: '../../unnamed/pot' },
      '.claude/skills/home': { link: join(home, '.agents/skills/tea') },
      through: { link: join(home, '.agents') },
      '.claude/skills/through': { link: '../../through/skills/tea' },
    };
    for (const repository of [{}, REPOSITORY]) {
      const alone = await open({ ...tree, ...repository }, [{ preset: 'claude' }], false);
      expect(alone.all).toEqual(['claude:pot', 'claude:tea']);
      expect(alone.codes).toEqual(['SYMLINK_OUTSIDE', 'SYMLINK_OUTSIDE']);
      const both = [{ preset: 'claude' }, { path: '.agents/skills', id: 'mine' }];
      const { ids, codes } = await open({ ...tree, ...repository }, both, false);
      expect(ids).toEqual(['claude:pot', 'claude:tea']);
      expect(codes).toEqual(['SYMLINK_OUTSIDE', 'SYMLINK_OUTSIDE']);
    }
  });

  it('a SKILL.md that is a link shows no file with another ending', async () => {
    const tree = {
      'terraform.tfstate': skillMd({ name: 'a', description: 'password' }),
      'NOTES.md': skillMd({ name: 'b', description: 'Notes.' }),
      'skills/a/SKILL.md': { link: '../../terraform.tfstate' },
      'skills/b/SKILL.md': { link: '../../NOTES.md' },
    };
    const { ids, codes } = await open(tree, [{ path: 'skills' }], false);
    expect([ids, codes]).toEqual([['skills:b'], ['SYMLINK_OUTSIDE']]);
  });

  it('a source that is itself a link out of it opens nothing for another one', async () => {
    const outside = tempFolder(tea('tea'));
    const root = tempFolder({ 'skills/.keep': '' });
    symlinkSync(outside, join(root, 'named'));
    symlinkSync(join(outside, 'tea'), join(root, 'skills/tea'));
    const registry = await openRoot(root, {
      config: { sources: [{ path: 'skills' }, { path: 'named' }] },
      trust: false,
    });
    expect(registry.snapshot().skills).toEqual([]);
    expect(registry.problems().map(({ code }) => code)).toEqual(['SYMLINK_OUTSIDE', 'ROOT_NOT_APPROVED']);
  });

  it('the links of the user’s own folders are followed', async () => {
    const home = tempFolder({ ...LINKED });
    vi.stubEnv('HOME', home);
    const root = tempFolder();
    mkdirSync(join(root, '.git'));
    const registry = await openRoot(root, { config: { sources: [{ preset: 'claude' }] }, trust: false });
    expect([...registry.snapshot().byQualifiedId.keys()]).toEqual(['claude-home:tea']);
    expect(registry.problems()).toEqual([]);
  });
});
