import { join } from 'node:path';
import { expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

const at = (folder: string, id: string, description = `Does ${id}.`): Tree => ({
  [`${folder}/${id}/SKILL.md`]: skillMd({ name: id, description }),
});
/** What a skill called `tea` with these fields gives: whether it is there, and `CODE message` of each problem. */
async function verdict(fields: Readonly<Record<string, string>>, body?: string) {
  const { registry } = await openRegistry(skill('tea', fields, body));
  return {
    there: registry.list().skills.map(({ skillId, name }) => `${skillId} ${name}`),
    problems: registry.problems().map(({ code, severity }) => `${severity} ${code}`),
    message: registry.problems()[0]?.message,
  };
}

it('3a.1 a skill has a name, a description and disable-model-invocation, which is false by default', async () => {
  const { registry } = await openRegistry({ ...skill('tea'), ...skill('own', { 'disable-model-invocation': 'true' }) });
  expect(registry.snapshot().byId.get('tea')).toMatchObject({
    name: 'tea',
    description: 'Does tea.',
    modelInvocable: true,
  });
  expect(registry.snapshot().byId.get('own')).toMatchObject({ modelInvocable: false });
});

it('3a.2 a name that differs from its directory is a warning, and the directory is the id', async () => {
  expect(await verdict({ name: 'coffee' })).toEqual({
    there: ['tea coffee'],
    problems: ['warning NAME_MISMATCH'],
    message: 'The name "coffee" differs from the directory "tea", which is the id. Make them equal.',
  });
});

it('3a.3 a name over 64 characters is a warning, and the skill is loaded', async () => {
  const { there, problems } = await verdict({ name: 'x'.repeat(65) });
  expect(there).toHaveLength(1);
  expect(problems).toContain('warning NAME_INVALID');
  const { registry } = await openRegistry(skill('x'.repeat(64)));
  expect(registry.problems()).toEqual([]);
});

it('3a.4 a name with other characters than lowercase letters, digits and hyphens is a warning', async () => {
  for (const name of ['Tea', 'green tea', 'tea_1', 'tea!']) {
    expect((await verdict({ name })).problems, name).toContain('warning NAME_INVALID');
  }
});

it('3a.5 a name with a hyphen at an end, or two together, is a warning', async () => {
  for (const name of ['-tea', 'tea-', 'green--tea']) {
    const { there, problems } = await verdict({ name: JSON.stringify(name) });
    expect(problems, name).toContain('warning NAME_INVALID');
    expect(there).toHaveLength(1);
  }
});

it('3a.6 without a description a skill is loaded by its first paragraph, and refused only when it says nothing', async () => {
  for (const description of ['', '"  "']) {
    expect(await verdict({ description })).toMatchObject({
      there: ['tea tea'],
      problems: ['warning DESCRIPTION_MISSING'],
    });
    expect(await verdict({ description }, '')).toMatchObject({ there: [], problems: ['error SKILL_EMPTY'] });
  }
});

it('3a.7 a description over 1024 characters is a warning, and the skill is loaded', async () => {
  expect(await verdict({ description: 'x'.repeat(1025) })).toMatchObject({
    there: ['tea tea'],
    problems: ['warning DESCRIPTION_TOO_LONG'],
  });
  expect((await verdict({ description: 'x'.repeat(1024) })).problems).toEqual([]);
});

it('3a.9 whatever is wrong is a problem with severity, message and path, and nothing throws', async () => {
  const tree = {
    'skills/a/SKILL.md': '---\n: [',
    'skills/b/SKILL.md': new Uint8Array([0xff, 0, 1]),
    'skills/c/SKILL.md': '',
  };
  const { registry, root } = await openRegistry({ ...tree, ...skill('tea') });
  expect(registry.list().skills.map(({ skillId }) => skillId)).toContain('tea');
  for (const id of ['a', 'b', 'c']) {
    const own = registry.problems().filter(({ file }) => file === join(root, 'skills', id, 'SKILL.md'));
    expect(own.length, id).toBeGreaterThan(0);
    for (const problem of own)
      expect(problem).toMatchObject({
        severity: expect.stringMatching(/^(error|warning)$/),
        message: expect.stringMatching(/./),
      });
  }
});

it('3a.10, 2a.21 a collision names the id and the files of winner and loser', async () => {
  const sources = [{ path: 'skills' }, { path: 'more' }];
  const { registry, root } = await openRegistry({ ...skill('tea'), ...at('more', 'tea', 'Other.') }, { sources });
  const [winner, loser] = ['skills', 'more'].map((folder) => join(root, folder, 'tea/SKILL.md'));
  expect(registry.problems()).toMatchObject([{ code: 'SKILL_ID_TAKEN', file: loser, details: { winner, loser } }]);
  expect(registry.problems()[0]?.message).toContain('Another skill "tea"');
});

it('3a.8 without a name the folder gives it, and unknown keys are no problem', async () => {
  const { registry } = await openRegistry({
    'skills/tea/SKILL.md': skillMd({ description: 'Brews.', colour: 'green' }),
  });
  expect(registry.list().skills).toMatchObject([{ skillId: 'tea', name: 'tea' }]);
  expect(registry.problems().map(({ code }) => code)).toEqual(['NAME_MISSING']);
});

it('3a.11 a path that is not there, or is no Markdown, is a problem that names it', async () => {
  const sources = [{ path: 'gone' }, { path: 'tea.txt' }, { path: 'skills' }];
  const { registry, root } = await openRegistry({ ...skill('tea'), 'tea.txt': 'Tea.' }, { sources });
  expect(registry.list().total).toBe(1);
  expect(
    registry
      .problems()
      .map(({ file }) => file)
      .sort(),
  ).toEqual([join(root, 'gone'), join(root, 'tea.txt')]);
});
