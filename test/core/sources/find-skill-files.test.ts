import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findSkillFiles, hidesSkills } from '../../../extensions/skill_registry/core/sources/walk/find-skill-files.ts';
import { briefProblems } from '../../helpers/open-registry.ts';
import { type Tree, tempFolder } from '../../helpers/temp-folder.ts';

interface Options {
  readonly maxDepth?: number;
  readonly allowOutside?: boolean;
}

/** Folders with a skill and problems, both below the root. */
async function findIn(root: string, { maxDepth = 8, allowOutside = false }: Options = {}) {
  const found = await findSkillFiles({ root, maxDepth, allowOutside });
  const below = (path: string): string => (path === root ? '.' : path.replace(`${root}/`, ''));
  return {
    dirs: found.files.map(({ dir }) => below(dir)),
    problems: briefProblems(found.problems, root),
    files: found.files,
  };
}

describe('a walk', () => {
  it.each<readonly [string, Tree, readonly string[]]>([
    ['an empty folder', {}, []],
    ['folders side by side, in order', { 'b/SKILL.md': '', 'a/SKILL.md': '', 'B/SKILL.md': '' }, ['B', 'a', 'b']],
    ['folders at any level', { 'x/y/a/SKILL.md': '', 'x/b/SKILL.md': '' }, ['x/b', 'x/y/a']],
    ['a root that is a skill, and nothing below', { 'SKILL.md': '', 'examples/SKILL.md': '' }, ['.']],
    ['no skill inside a skill', { 'a/SKILL.md': '', 'a/examples/b/SKILL.md': '' }, ['a']],
    [
      'nothing hidden',
      { '.hidden/a/SKILL.md': '', '.b/SKILL.md': '', 'x/.c/d/SKILL.md': '', '.venv/e/SKILL.md': '' },
      [],
    ],
    [
      'what an agent keeps in a hidden folder',
      { '.agents/skills/a/SKILL.md': '', 'x/.claude/skills/b/SKILL.md': '', '.agents/.skills/c/SKILL.md': '' },
      ['.agents/skills/a', 'x/.claude/skills/b'],
    ],
    [
      'nothing that is put away, or that a change is made in',
      { '.archive/skills/a/SKILL.md': '', '.skill-registry-1/skills/b/SKILL.md': '', '.ssh/skills/c/SKILL.md': '' },
      [],
    ],
    [
      'nothing of git, of packages or of Python',
      {
        '.git/a/SKILL.md': '',
        '.git/skills/a/SKILL.md': '',
        'x/node_modules/a/SKILL.md': '',
        'bower_components/SKILL.md': '',
        'x/__pycache__/a/SKILL.md': '',
        '__MACOSX/a/SKILL.md': '',
        'b/SKILL.md': '',
      },
      ['b'],
    ],
    [
      'nothing that tools generate',
      {
        'venv/lib/python3.12/a/SKILL.md': '',
        'x/dist/a/SKILL.md': '',
        'x/build/lib/b/SKILL.md': '',
        'target/package/c/SKILL.md': '',
        'out/d/SKILL.md': '',
        'x/env/pyvenv.cfg': '',
        'x/env/e/SKILL.md': '',
        'tools/CACHEDIR.TAG': '',
        'tools/f/SKILL.md': '',
        'lib/site-packages/g/SKILL.md': '',
      },
      [],
    ],
    [
      'skills that are called like what tools generate',
      {
        'build/SKILL.md': '',
        'x/dist/SKILL.md': '',
        'target/SKILL.md': '',
        'builds/a/SKILL.md': '',
        'venv/SKILL.md': '',
      },
      ['build', 'builds/a', 'target', 'venv', 'x/dist'],
    ],
    ['no bare file, unless it is asked for', { 'notes.md': '', 'README.md': '' }, []],
    ['files of other names', { 'a/README.md': '', 'b/SKILLS.md': '', 'c/SKILL.md.bak': '' }, []],
    ['a folder that is called SKILL.md', { 'a/SKILL.md/b/SKILL.md': '' }, ['a/SKILL.md/b']],
    ['names of any script', { '整理/SKILL.md': '', 'a b/SKILL.md': '' }, ['a b', '整理']],
  ])('finds %s', async (_, tree, dirs) => {
    expect(await findIn(tempFolder(tree))).toMatchObject({ dirs, problems: [] });
  });

  it.each(['skill.md', 'Skill.md', 'SKILL.MD'])('reads %s with a warning', async (name) => {
    const found = await findIn(tempFolder({ [`a/${name}`]: '' }));
    expect(found).toMatchObject({ dirs: ['a'], problems: [`SKILL_FILE_CASE a/${name}`] });
    expect(found.files[0]?.file).toMatch(new RegExp(`/a/${name}$`));
  });

  it('takes SKILL.md before any other spelling, without a warning', async () => {
    const found = await findIn(tempFolder({ 'a/SKILL.MD': '', 'a/SKILL.md': '', 'a/skill.md': '' }));
    expect(found).toMatchObject({ dirs: ['a'], problems: [] });
    expect(found.files[0]?.file).toMatch(/\/a\/SKILL\.md$/);
  });

  it('rejects for a root that is no folder', async () => {
    const root = tempFolder({ file: '' });
    await expect(findIn(join(root, 'file'))).rejects.toThrow('ENOTDIR');
    await expect(findIn(join(root, 'absent'))).rejects.toThrow('ENOENT');
  });
});

describe('the depth bound', () => {
  const tree = { '1/SKILL.md': '', 'a/2/SKILL.md': '', 'a/b/3/SKILL.md': '', 'a/b/4/SKILL.md': '' };
  it.each([
    [0, [], ['SCAN_DEPTH_EXCEEDED .']],
    [1, ['1'], ['SCAN_DEPTH_EXCEEDED a']],
    [2, ['1', 'a/2'], ['SCAN_DEPTH_EXCEEDED a/b']],
    [3, ['1', 'a/2', 'a/b/3', 'a/b/4'], []],
  ])('of %i is kept, and what lies below is said', async (maxDepth, dirs, problems) => {
    expect(await findIn(tempFolder(tree), { maxDepth })).toMatchObject({ dirs, problems });
  });

  it('counts what was left out', async () => {
    const root = tempFolder(tree);
    const { problems } = await findSkillFiles({ root, maxDepth: 2, allowOutside: false });
    expect(problems).toMatchObject([{ severity: 'warning', details: { maxDepth: 2, count: 2 } }]);
  });

  it('does not count folders that are never looked into, nor the folders of a skill', async () => {
    const tree = { 'a/b/node_modules/x/y': '', 'a/b/.git/y': '', 'a/c/SKILL.md': '', 'a/c/references/x': '' };
    expect(await findIn(tempFolder(tree), { maxDepth: 2 })).toMatchObject({ dirs: ['a/c'], problems: [] });
  });
});

describe('links', () => {
  it.each<readonly [string, Tree, readonly string[], readonly string[]]>([
    [
      'a folder is found once, however many lead to it',
      { 'a/SKILL.md': '', b: { link: 'a' }, c: { link: 'a' } },
      ['a'],
      [],
    ],
    ['a circle ends', { 'a/b/SKILL.md': '', 'a/up': { link: '..' }, 'a/self': { link: '.' } }, ['a/b'], []],
    ['a folder elsewhere in the root is followed', { 'x/a/SKILL.md': '', 'a/b': { link: '../x/a' } }, ['x/a'], []],
    ['a hidden folder is followed to', { '.x/a/SKILL.md': '', 'y/b': { link: '../.x/a' } }, ['y/b'], []],
    ['a link of a hidden name is not followed', { 'x/a/SKILL.md': '', '.y': { link: 'x' } }, ['x/a'], []],
    [
      'skills of an agent that are a link are found once',
      { '.agents/skills/a/SKILL.md': '', '.claude/skills': { link: '../.agents/skills' } },
      ['.agents/skills/a'],
      [],
    ],
    ['a linked file is read', { 'a/SKILL.md': { link: '../text' }, text: '' }, ['a'], []],
    ['a link to a file that is no skill is nothing', { text: '', a: { link: 'text' } }, [], []],
    ['a link to nowhere is a problem', { a: { link: 'absent' } }, [], ['SYMLINK_BROKEN a']],
    ['a link to itself is a problem', { a: { link: 'a' } }, [], ['SYMLINK_BROKEN a']],
    [
      'two links to each other are problems',
      { a: { link: 'b' }, b: { link: 'a' } },
      [],
      ['SYMLINK_BROKEN a', 'SYMLINK_BROKEN b'],
    ],
    ['a broken SKILL.md is a problem', { 'a/SKILL.md': { link: 'absent' } }, [], ['SYMLINK_BROKEN a/SKILL.md']],
  ])('%s', async (_, tree, dirs, problems) => {
    expect(await findIn(tempFolder(tree))).toMatchObject({ dirs, problems });
  });

  const outside = () => {
    const far = tempFolder({ 'far/SKILL.md': '', 'near/SKILL.md': '', text: '' });
    return tempFolder({
      'a/SKILL.md': '',
      'b/SKILL.md': { link: join(far, 'text') },
      c: { link: join(far, 'far') },
      'd/e': { link: far },
    });
  };

  it('out of the root are refused', async () => {
    expect(await findIn(outside())).toMatchObject({
      dirs: ['a'],
      problems: ['SYMLINK_OUTSIDE b/SKILL.md', 'SYMLINK_OUTSIDE c', 'SYMLINK_OUTSIDE d/e'],
    });
  });

  it('out of the root are followed with allow_outside', async () => {
    expect(await findIn(outside(), { allowOutside: true })).toMatchObject({
      // Real ones first, then what folder links lead to, then SKILL.md files that are links.
      dirs: ['a', 'c', 'd/e/near', 'b'],
      problems: [],
    });
  });

  it('to a folder beside the root whose name starts alike are refused', async () => {
    const parent = tempFolder({ 'root-2/SKILL.md': '', 'root/a': { link: '../root-2' } });
    expect(await findIn(join(parent, 'root'))).toMatchObject({ dirs: [], problems: ['SYMLINK_OUTSIDE a'] });
  });

  it('may stand for the root itself', async () => {
    const parent = tempFolder({ 'real/a/SKILL.md': '', root: { link: 'real' } });
    const { files, dirs } = await findIn(join(parent, 'root'));
    expect(dirs).toEqual(['a']);
    expect(files[0]?.realDir).toBe(join(parent, 'real', 'a'));
  });
});

it.skipIf(process.getuid?.() === 0)(
  'says that a folder cannot be read and goes on (not as root, who may read everything)',
  async () => {
    const root = tempFolder({ 'a/SKILL.md': '', 'b/c/SKILL.md': '', 'd/SKILL.md': '' });
    chmodSync(join(root, 'b'), 0o000);
    const found = await findIn(root);
    chmodSync(join(root, 'b'), 0o755);
    expect(found).toMatchObject({ dirs: ['a', 'd'], problems: ['DIRECTORY_UNREADABLE b'] });
  },
);

it('says that a SKILL.md directly in the folder of a source makes files of what would be skills', async () => {
  const inside = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [`${name}/SKILL.md`, '']));
  const { dirs, problems } = await findIn(tempFolder({ 'SKILL.md': '', ...inside }));
  expect([dirs, problems]).toEqual([['.'], ['SKILLS_INSIDE_SKILL SKILL.md']]);
  const { problems: whole } = await findSkillFiles({
    root: tempFolder({ 'SKILL.md': '', ...inside }),
    maxDepth: 8,
    allowOutside: false,
  });
  expect(whole[0]?.message).toContain('so a SKILL.md makes no skill in 6 folders below it: a, b, c, d, e and 1 more.');
  for (const own of ['templates/SKILL.md', 'examples/b/SKILL.md', '.tool/SKILL.md', 'notes.md'])
    expect((await findIn(tempFolder({ 'SKILL.md': '', [own]: '' }))).problems, own).toEqual([]);
});

it('finds the skill in a folder that cannot be listed', () => {
  // Root may list every folder, so one that is gone stands for it.
  expect(hidesSkills(join(tempFolder({}), 'gone'))).toEqual([]);
});
