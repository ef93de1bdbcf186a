import { expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

const at = (folder: string, id: string): Tree => ({
  [`${folder}/${id}/SKILL.md`]: skillMd({ name: id, description: `Does ${id}.` }, `Body of ${id}.`),
});

it('5a.1, 5d.2, 5d.5 a workspace is searched where its owner says so, but for what tools fill, and a skill is not searched for others', async () => {
  const hidden = { ...at('node_modules/x', 'no'), ...at('.git/x', 'nor'), ...at('skills/tea/examples', 'inner') };
  const tree = {
    ...at('skills', 'tea'),
    ...at('.ak-coder/skills', 'cup'),
    ...at('.cursor/skills', 'pot'),
    ...at('a/b/c', 'deep'),
  };
  const vendored = {
    ...at('dist/x', 'built'),
    ...at('.venv/x', 'vendored'),
    'odd/MYSKILL.md': skillMd({ name: 'odd' }),
  };
  const ids = async (config: Readonly<Record<string, unknown>>): Promise<readonly string[]> => {
    const { registry } = await openRegistry({ ...tree, ...hidden, ...vendored }, config);
    return registry.list().skills.map(({ skillId }) => skillId);
  };
  expect(await ids({ sources: [{ path: '.' }] })).toEqual(['cup', 'deep', 'pot', 'tea']);
  expect(await ids({})).toEqual(['tea']);
});

it('5a.2, 3d.11 what follows the frontmatter is the body', async () => {
  const { registry } = await openRegistry(skill('tea', {}, '# Tea\n\n---\n\nMore.'));
  expect(await registry.read('tea')).toMatchObject({ name: 'tea', content: '# Tea\n\n---\n\nMore.' });
  expect((await registry.read('tea', { view: 'raw' })).content).toMatch(/^---\nname: tea\n/);
});

it('5a.3, 2a.58 without frontmatter a file is a skill all the same, by its folder and its first paragraph', async () => {
  const { registry } = await openRegistry({ 'skills/tea/SKILL.md': '# Tea\n\nHow to brew tea.\n' });
  expect(registry.list().skills).toMatchObject([{ skillId: 'tea', name: 'tea', description: 'How to brew tea.' }]);
  expect(await registry.read('tea')).toMatchObject({ content: '# Tea\n\nHow to brew tea.' });
});

it('5a.4, 5a.5, 5d.3 all bodies stand in every prompt when they are asked for, within the budget', async () => {
  const { registry } = await openRegistry({ ...skill('cup'), ...skill('tea') }, { inject: 'bodies' });
  const block = (id: string) =>
    `\n- Skill Name: ${id}\n  Description: Does ${id}.\n  Instructions:\n[Skill: ${id} | key]\n\nBody of ${id}.\n\n[End | key]`;
  for (const prompt of ['one', 'two']) {
    const text = await registry.context(prompt);
    expect(text?.replaceAll(/\d{18}/g, 'key')).toBe(`Available Skills:${block('cup')}\n${block('tea')}`);
  }
  const long = { ...skill('cup'), ...skill('tea', {}, 'word '.repeat(3000)) };
  const { registry: full } = await openRegistry(long, { inject: 'bodies' });
  const text = await full.context('tea');
  expect(text).toContain('Instructions of 1 of 2 skills are given; the others are listed.');
  expect(text).toContain('• `tea` — Does tea.');
});

it('5a.16 a skill adds instructions and no tools, and one that is too long is named', async () => {
  const script = { 'skills/tea/scripts/run.sh': { content: '#!/bin/sh\ntouch ran\n', mode: 0o755 } };
  const { registry } = await openRegistry({
    ...skill('tea', { 'allowed-tools': 'Bash' }, 'word '.repeat(9000)),
    ...script,
  });
  expect(registry.tools().map(({ name }) => name)).toEqual([
    'list_skills',
    'read_skill',
    'read_skill_resource',
    'propose_skill_update',
    'list_proposals',
  ]);
  expect(await registry.readResource('tea', 'scripts/run.sh')).toMatchObject({ content: '#!/bin/sh\ntouch ran\n' });
  await registry.admin.tokenCounts();
  expect(registry.problems().map(({ code }) => code)).toEqual(['SKILL_TOO_LONG']);
});

it('5d.1, 3d.4, 8.3 quotes, folded text, lists and line ends are read as YAML, and a nested key stays below its own', async () => {
  const text = [
    '---',
    'name: tea',
    'description: >',
    '  Brews tea: "hot".',
    '  Use when thirsty.',
    'tags: [\'a\', "b"]',
    'metadata: { name: evil, description: evil }',
    '---',
    'Body.',
  ];
  for (const [start, end] of [
    ['', '\n'],
    ['', '\r\n'],
    ['\uFEFF', '\n'],
  ] as const) {
    const { registry } = await openRegistry({ 'skills/tea/SKILL.md': start + text.join(end) + end });
    expect(registry.snapshot().byId.get('tea')).toMatchObject({
      name: 'tea',
      description: 'Brews tea: "hot". Use when thirsty.',
      tags: ['a', 'b'],
    });
    expect(registry.problems()).toEqual([]);
  }
});
