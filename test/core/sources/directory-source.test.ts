import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createDirectorySource } from '../../../extensions/skill_registry/core/sources/kinds/directory-source.ts';
import { briefProblems } from '../../helpers/open-registry.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../../helpers/temp-folder.ts';

const LIMITS = { skill_tokens: 8000, resource_bytes: 1000, file_bytes: 1000, scan_depth: 8 };

function sourceOf(tree: Tree, below = '') {
  const root = join(tempFolder(tree), below);
  const source = createDirectorySource({ id: 'own', root, allowOutside: false });
  const scan = async () => {
    const { skills, problems } = await source.scan(LIMITS);
    return { skills, problems: briefProblems(problems, root) };
  };
  return { root, source, scan };
}

const skill = (name: string): string => skillMd({ name, description: `Does ${name}.` });

describe('a scan', () => {
  it('says everything there is to say of a skill', async () => {
    const { root, scan } = sourceOf({ 'x/tidy/SKILL.md': skill('tidy') });
    const { skills, problems } = await scan();
    expect(problems).toEqual([]);
    expect(skills).toMatchObject([
      {
        id: 'tidy',
        qualifiedId: 'own:x/tidy',
        source: 'own',
        file: join(root, 'x/tidy/SKILL.md'),
        dir: join(root, 'x/tidy'),
        realFile: join(root, 'x/tidy/SKILL.md'),
        bytes: skill('tidy').length,
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        name: 'tidy',
        description: 'Does tidy.',
        tags: [],
        requires: [],
        modelInvocable: true,
        userInvocable: true,
        extra: {},
      },
    ]);
  });

  it('calls a root that is a skill by its own name', async () => {
    const { scan } = sourceOf({ 'tidy/SKILL.md': skill('tidy') }, 'tidy');
    expect((await scan()).skills).toMatchObject([{ id: 'tidy', qualifiedId: 'own:.' }]);
  });

  it('says that its folder is missing, and finds it once it is there', async () => {
    const { root, scan } = sourceOf({}, 'later');
    expect(await scan()).toEqual({ skills: [], problems: ['SOURCE_MISSING .'] });
    writeTree(root, { 'tidy/SKILL.md': skill('tidy') });
    expect(await scan()).toMatchObject({ skills: [{ id: 'tidy' }], problems: [] });
    rmSync(root, { recursive: true });
    expect(await scan()).toEqual({ skills: [], problems: ['SOURCE_MISSING .'] });
  });

  it('keeps healthy skills whatever is wrong beside them', async () => {
    const { scan } = sourceOf({
      'bad-empty/SKILL.md': '',
      'bad-large/SKILL.md': 'x'.repeat(1001),
      'bad-circle/SKILL.md': '---\ndescription: &a [*a]\n---\n',
      'bad-binary/SKILL.md': Uint8Array.from({ length: 300 }, (_, at) => (at * 7) % 256),
      'bad-link/SKILL.md': { link: 'absent' },
      'bad-loop': { link: '.' },
      'good-bom/SKILL.md': `\ufeff${skill('good-bom')}`,
      'good-crlf/SKILL.md': skill('good-crlf').replaceAll('\n', '\r\n'),
      'good/SKILL.md': skill('good'),
    });
    const { skills, problems } = await scan();
    expect(skills.map(({ id }) => id).filter((id) => id.startsWith('good'))).toEqual(['good', 'good-bom', 'good-crlf']);
    expect(problems.filter((problem) => problem.includes(' good'))).toEqual([]);
    for (const bad of ['bad-empty', 'bad-large', 'bad-circle', 'bad-binary', 'bad-link']) {
      expect(
        problems.filter((problem) => problem.includes(bad)),
        bad,
      ).not.toEqual([]);
    }
  });

  it.each(['a`b', 'a\u200bb', 'a\tb', 'a\nb', ' a', 'a ', 'a  b', 'a\u202eb', 'a\u001bb', 'a:b'])(
    'refuses the id %j, which is not what it looks like',
    async (id) => {
      const { scan } = sourceOf({ [`${id}/SKILL.md`]: skill('x'), 'good/SKILL.md': skill('good') });
      const { skills, problems } = await scan();
      expect(skills.map((found) => found.id)).toEqual(['good']);
      expect(problems.filter((problem) => problem.startsWith('SKILL_ID_INVALID'))).toHaveLength(1);
    },
  );

  it.each(['a b', 'Ünï', '整理', 'می\u200cخواهم', 'a.b', 'UPPER_case', "it's", '$(x)', 'a..'])(
    'takes the id %j',
    async (id) => {
      const { scan } = sourceOf({ [`${id}/SKILL.md`]: skill('x') });
      expect((await scan()).skills.map((found) => found.id)).toEqual([id]);
    },
  );
});

describe('the files of a skill', () => {
  it('are listed by path, without SKILL.md, links, git and packages', async () => {
    const { source, scan } = sourceOf({
      'a/SKILL.md': skill('a'),
      'a/z.txt': '12345',
      'a/references/guide.md': '1',
      'a/references/SKILL.md': '22',
      'a/link.txt': { link: 'z.txt' },
      'a/.git/config': '',
      'a/node_modules/x/y.js': '',
    });
    const [found] = (await scan()).skills;
    expect(found && source.listing(found).files).toEqual([
      { path: 'references/SKILL.md', size: 2 },
      { path: 'references/guide.md', size: 1 },
      { path: 'z.txt', size: 5 },
    ]);
  });

  it('are at most 512', async () => {
    const files = Object.fromEntries(Array.from({ length: 520 }, (_, at) => [`a/${String(at).padStart(3, '0')}`, '']));
    const { source, scan } = sourceOf({ 'a/SKILL.md': skill('a'), ...files });
    const [found] = (await scan()).skills;
    expect(found && source.listing(found).files).toHaveLength(512);
  });

  it('are none when the skill has gone', async () => {
    const { root, source, scan } = sourceOf({ 'a/SKILL.md': skill('a'), 'a/b': '' });
    const [found] = (await scan()).skills;
    rmSync(root, { recursive: true });
    expect(found && source.listing(found).files).toEqual([]);
  });
});
