import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillRegistry } from 'skill-registry';
import { createSkillRegistry } from 'skill-registry';
import { describe, expect, it } from 'vitest';
import { Searcher } from '../../../extensions/skill_registry/core/search/searcher.ts';
import { fakeSkill } from '../../helpers/fake-skill.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../../helpers/temp-folder.ts';

const skill = (id: string, description: string, body = 'Do it well.', fields: Record<string, string> = {}): Tree => ({
  [`skills/${id}/SKILL.md`]: skillMd({ name: id, description, ...fields }, body),
});
const KITCHEN: Tree = {
  ...skill(
    'brew-tea',
    'Makes tea. Use when somebody is thirsty.',
    '# Steps\n\nWarm the pot.\n\n# Oolong\n\nSteep for three minutes.',
  ),
  ...skill('brew-coffee', 'Makes coffee from beans.', 'Grind the beans with grindBeans() in kitchen_tools.py.'),
  ...skill('bake-bread', 'Bakes sourdough loaves.', 'Knead the dough. Let it rise; the rest is patience.'),
  ...skill('cha-dao', '泡茶的艺术：选择茶叶和水温。', '先温壶。'),
  ...skill('tea', 'A word about leaves.'),
};

const ids = (registry: SkillRegistry, query: string): readonly string[] =>
  registry.list({ query }).skills.map(({ skillId }) => skillId);

describe('a query finds', () => {
  it.each([
    ['an id before whatever says more of it', 'tea', 'tea'],
    ['an id with blanks', 'Brew Coffee', 'brew-coffee'],
    ['the beginning of an id', 'brew-c', 'brew-coffee'],
    ['a qualified id', 'skills:bake-bread', 'bake-bread'],
    ['words of the body', 'knead dough', 'bake-bread'],
    ['an identifier as a whole', 'grindbeans', 'brew-coffee'],
    ['a part of an identifier', 'kitchen tools', 'brew-coffee'],
    ['another form of a word', 'steeping', 'brew-tea'],
    ['a word with a slip', 'sourdugh', 'bake-bread'],
    ['two letters that changed places', 'cofefe beans', 'brew-coffee'],
    ['Chinese', '选择茶叶', 'cha-dao'],
    ['a phrase', '"the rest is patience"', 'bake-bread'],
    ['words around what would be syntax elsewhere', 'sourdough* AND (loaves "', 'bake-bread'],
    ['a part of a word', 'ourdou', 'bake-bread'],
  ])('%s', async (_, query, first) => {
    const { registry } = await openRegistry(KITCHEN);
    expect(ids(registry, query)[0]).toBe(first);
  });

  it('a skill with one part about it before one that has the same words here and there', async () => {
    const parts = (...texts: readonly string[]): string =>
      texts.map((text, n) => `## Part ${n}\n\n${text}`).join('\n\n');
    const { registry } = await openRegistry({
      ...skill(
        'apart',
        'Looks after a garden.',
        parts('Prune in spring.', 'Graft the roots.', 'An orchard needs air.'),
      ),
      ...skill(
        'together',
        'Looks after a garden.',
        parts('In spring needs air.', 'The roots an.', 'Prune graft orchard.'),
      ),
      ...skill('other', 'Looks after a house.', parts('Paint.', 'Mop.', 'Dust.')),
    });
    expect(ids(registry, 'prune graft orchard')).toEqual(['together', 'apart']);
  });

  it('a skill that is for it before one that says it more often', async () => {
    const { registry } = await openRegistry({
      ...skill(
        'house',
        'Looks after a house.',
        'Sweep the path to the orchard, then the stairs. Close the gate of the orchard.',
      ),
      ...skill('garden', 'Looks after an orchard.', 'Prune in spring. Let the air in, and keep the roots moist.'),
      ...skill('other', 'Looks after a dog.', 'Walk it.'),
    });
    expect(ids(registry, 'orchard')).toEqual(['garden', 'house']);
  });

  it('no phrase whose words stand apart', async () => {
    const { registry } = await openRegistry(KITCHEN);
    expect(registry.list({ query: '"patience rise"' }).total).toBe(0);
    expect(ids(registry, 'patience rise')[0]).toBe('bake-bread');
  });

  it('nothing where no word is known, and names what is near', async () => {
    const { registry } = await openRegistry(KITCHEN);
    expect(registry.list({ query: 'deploy kubernetes clusters' })).toMatchObject({ skills: [], total: 0 });
    expect(registry.list({ query: 'bru-tee' })).toMatchObject({ total: 0, nearest: ['brew-tea'] });
  });

  it('only what may be seen, whoever asks', async () => {
    const { registry } = await openRegistry({
      ...KITCHEN,
      ...skill('secret-tea', 'Tea for guests.', 'x', { 'disable-model-invocation': 'true' }),
    });
    expect(ids(registry, 'tea guests')).not.toContain('secret-tea');
    expect(registry.list({ query: 'tea guests', audience: 'person' }).skills[0]?.skillId).toBe('secret-tea');
    expect(registry.list({ query: 'tea' }, { boundSkills: ['bake-bread'] }).total).toBe(0);
  });
});

it.each([
  ['brew-c', { field: 'id', snippet: 'brew-coffee' }],
  ['thirsty', { field: 'description', snippet: 'Makes tea. Use when somebody is thirsty.' }],
  ['steep minutes', { field: 'body', snippet: 'Steep for three minutes.' }],
])('a hit for %j says why', async (query, why) => {
  const { registry } = await openRegistry(KITCHEN);
  expect(registry.list({ query, why: true, audience: 'person' }).skills[0]?.why).toEqual(why);
  expect(registry.list({ query }).skills[0]).not.toHaveProperty('why');
});

it('quotes no body to a model, which reads it by another call', async () => {
  const { registry } = await openRegistry(KITCHEN);
  const [hit] = registry.list({ query: 'steep minutes', why: true }, {}).skills;
  expect(hit?.why?.field).toBe('description');
});

it('a snippet is one line, whatever the author wrote', async () => {
  const body = `zebra \u202e\u0007\u200b${'stripes '.repeat(100)}`;
  const { registry } = await openRegistry(skill('z', 'An animal.', body));
  const snippet =
    registry.list({ query: 'zebra stripes', why: true, audience: 'person' }).skills[0]?.why?.snippet ?? '';
  expect(snippet).toMatch(/^zebra stripes/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  expect(snippet).not.toMatch(/[\u0000-\u001f\u200b\u202e]/);
  expect(snippet.length).toBeLessThanOrEqual(160);
});

describe('among skills with the same words', () => {
  const apart = skill('apart', 'Looks after trees.', 'Orchard prune. Graft roots.');
  // Longer, so that it would be second.
  const together = skill('together', 'Looks after trees.', 'Graft roots. Prune orchard. Mulch leaves.');
  const other = skill('house', 'Looks after a house.', 'Sweep the stairs.');

  it('the one that has them side by side is first', async () => {
    const { registry } = await openRegistry({ ...apart, ...together, ...other });
    expect(ids(registry, 'prune an orchard')).toEqual(['together', 'apart']);
    expect(ids(registry, 'orchard prune')).toEqual(['apart', 'together']);
    expect(ids(registry, 'roots orchard')).toEqual(['apart', 'together']);
  });

  it('the one that has them side by side is first among those that are asked for', async () => {
    const tagged = (tree: Tree): Tree =>
      Object.fromEntries(
        Object.entries(tree).map(([path, text]) => [path, String(text).replace('---\n', '---\ntags: [far]\n')]),
      );
    const nearer = Array.from({ length: 60 }, (_, n) => skill(`near-${n}x`, 'Has to prune an orchard.', 'Prune it.'));
    const { registry } = await openRegistry(Object.assign({}, tagged(apart), tagged(together), ...nearer));
    const found = registry.list({ query: 'prune an orchard', tag: 'far' });
    expect(found.skills.map(({ skillId }) => skillId)).toEqual(['together', 'apart']);
  });

  it('a name stays before what says it side by side', async () => {
    const named = skill('orchards', 'Looks after trees.', 'Graft.', { name: 'prune-orchard' });
    const { registry } = await openRegistry({ ...named, ...apart, ...together });
    expect(ids(registry, 'prune orchard')[0]).toBe('orchards');
  });

  it('an index in memory keeps no pairs, and leaves their order as it is', () => {
    const bodies = { apart: 'Orchard prune. Graft roots.', together: 'Graft roots. Prune orchard.' };
    const skills = Object.keys(bodies).map((id) => fakeSkill(id, { description: 'Looks after trees.' }));
    const searcher = new Searcher({
      readSkill: ({ id }) => Buffer.from(`---\nname: x\n---\n${bodies[id as keyof typeof bodies]}`),
    });
    for (const query of ['prune orchard', 'orchard prune'])
      expect(searcher.search(skills, query).hits.map(({ skill: { id } }) => id)).toEqual(['apart', 'together']);
    searcher.close();
  });
});

it('counts all that it finds, and loses no name among those that are better', async () => {
  const alike = (n: number): Tree => skill(`alike-${n}x`, 'Prunes an orchard.', 'Graft the roots of the orchard.');
  const named = skill('prune-orchard', 'Helps.', `Prune it. ${'Sweep the stairs. '.repeat(60)}`);
  const tree: Tree = Object.assign({}, named, ...Array.from({ length: 230 }, (_, n) => alike(n)));
  const { registry } = await openRegistry(tree);
  await registry.admin.prepareSearch();
  const list = (limit: number) => registry.list({ query: 'prune orchard', limit });
  expect(list(200)).toMatchObject({ total: 231, truncated: true });
  expect(list(200).skills).toHaveLength(200);
  expect(list(200).skills[0]).toMatchObject({ skillId: 'prune-orchard', score: 1 });
  expect(list(200).skills.slice(0, 20)).toEqual(list(20).skills);
  // All are alike, so that they stand in the order of the catalog.
  const others = registry.list({ limit: 200 }).skills.map(({ skillId }) => skillId);
  const shown = list(200).skills.map(({ skillId }) => skillId);
  expect(shown.slice(1)).toEqual(others.slice(0, 199));
});

describe('the index', () => {
  it('follows an edit, a new skill and one that has gone', async () => {
    const { registry, root } = await openRegistry(KITCHEN);
    expect(ids(registry, 'marmalade')).toEqual([]);
    writeTree(root, skill('tea', 'A word about leaves.', 'Serve with marmalade.'));
    await registry.refresh();
    expect(ids(registry, 'marmalade')).toEqual(['tea']);
  });

  it('is shared by registries of one root, and read by the next', async () => {
    const { registry, root } = await openRegistry(KITCHEN);
    const second = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
    await Promise.all([registry.admin.prepareSearch(), second.admin.prepareSearch()]);
    expect(ids(registry, 'knead')).toEqual(['bake-bread']);
    expect(ids(second, 'knead')).toEqual(['bake-bread']);
    await second.close();
    const third = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
    expect(ids(third, 'knead')).toEqual(['bake-bread']);
    await third.close();
  });

  it('is made anew from a damaged file, and kept in memory where none can be written', async () => {
    const root = tempFolder(KITCHEN);
    writeTree(root, { 'data/skill_registry/cache.db': 'no database '.repeat(1000) });
    const damaged = await createSkillRegistry({ root, config: { sources: [{ path: 'skills' }] } });
    expect(ids(damaged, 'knead')).toEqual(['bake-bread']);
    await damaged.close();
    const blocked = tempFolder(KITCHEN);
    writeFileSync(join(blocked, 'data'), 'a file where the folder should be');
    const inMemory = await createSkillRegistry({ root: blocked, config: { sources: [{ path: 'skills' }] } });
    expect(ids(inMemory, 'knead')).toEqual(['bake-bread']);
    await inMemory.close();
  });

  it('is closed with the registry', async () => {
    const { registry } = await openRegistry(KITCHEN);
    await registry.close();
    expect(() => registry.list({ query: 'tea' })).toThrow(expect.objectContaining({ code: 'REGISTRY_CLOSED' }));
    expect(registry.list().total).toBe(5);
  });
});
