import { describe, expect, it } from 'vitest';
import { idsOf, PACKAGE, skillAt, withoutHome } from '../../helpers/ids-of-sources.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

withoutHome();

describe('validation', () => {
  const tree = (at: string): Tree => ({
    ...skillAt(`${at}/sound`),
    ...skillAt(`${at}/spec-only`, { description: 'Short.' }),
    ...skillAt(`${at}/loose`, { name: 'Other Name' }),
    ...skillAt(`${at}/extra`, { colour: 'red' }),
    [`${at}/bare/SKILL.md`]: 'Just text.',
  });

  it.each<[string, string, readonly string[]]>([
    ['lenient', '', ['bare', 'extra', 'loose', 'sound', 'spec-only']],
    ['spec', 'SPEC_VIOLATION', ['sound', 'spec-only']],
    ['strict', 'STRICT_VIOLATION', ['sound']],
  ])('%s decides what loads, in every kind of source', async (validation, code, ids) => {
    const pack = JSON.stringify({ id: 'p', skills: ['./skills'] });
    const kinds: readonly (readonly [Tree, Readonly<Record<string, unknown>>, string])[] = [
      [tree('skills'), { path: 'skills' }, 'skills'],
      [{ ...tree(`${PACKAGE}/skills`), [`${PACKAGE}/package.json`]: '{}' }, { package: 'brew' }, `${PACKAGE}/skills`],
      [{ ...tree('x/skills'), 'x/p.json': pack }, { pack: 'x/p.json' }, 'x/skills'],
      [tree('.claude/skills'), { preset: 'claude' }, '.claude/skills'],
    ];
    for (const [files, source, at] of kinds) {
      const found = await idsOf(files, { ...source, validation });
      expect(found.ids).toEqual(ids);
      if (!code) continue;
      const refused = new Set(
        found.problems.filter((problem) => problem.startsWith(code)).map((one) => one.split(':')[0]),
      );
      const expected = ['bare', 'extra', 'loose', 'sound', 'spec-only'].filter((id) => !ids.includes(id));
      expect([...refused]).toEqual(expected.map((id) => `${code} ${at}/${id}/SKILL.md`));
    }
  });

  it('of a source wins over the one of the registry, and a file that was mended loads', async () => {
    const files = { ...tree('skills'), ...skillAt('more/also-loose', { name: 'X Y' }), ...skillAt('notes') };
    const { registry } = await openRegistry(files, {
      validation: 'strict',
      sources: [{ path: 'skills' }, { path: 'more', validation: 'lenient' }],
    });
    expect(registry.list().skills.map(({ skillId }) => skillId)).toEqual(['sound', 'also-loose']);
  });

  it('applies to a bare file', async () => {
    const files = { 'a.md': skillMd({ name: 'wrong name', description: 'Does it.' }) };
    expect((await idsOf(files, { path: 'a.md' })).ids).toEqual(['a']);
    expect(await idsOf(files, { path: 'a.md', validation: 'spec' })).toMatchObject({
      ids: [],
      problems: expect.arrayContaining(['SPEC_VIOLATION a.md:2']),
    });
  });
});
