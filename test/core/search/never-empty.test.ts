import { runTool } from 'skill-registry/kernel';
import { describe, expect, it } from 'vitest';
import { embeddingsServer } from '../../helpers/embeddings-server.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { find, semanticRegistry } from '../../helpers/semantic-registry.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

const skill = (id: string, description: string, body: string): Tree => ({
  [`skills/${id}/SKILL.md`]: skillMd({ name: id, description }, body),
});
/** Different ones, which nobody has. */
const longWords = (count: number): string => Array.from({ length: count }, (_, n) => `qx${n}z`).join(' ');
/** Every skill has "file", "create" and "project" somewhere, as real ones do. */
const ENGLISH: Tree = {
  ...skill(
    'code-review',
    'Reviews a change of code in the backend before it is merged.',
    'Read each file of the project. Create a list of comments. Run the tests, then say whether the backend may change.',
  ),
  ...skill(
    'pdf-forms',
    'Fills in the forms of a PDF document.',
    'Open the file, find each field, create a copy of the document, and fill in what the project gives.',
  ),
  ...skill(
    'release-notes',
    'Writes release notes from commits.',
    'Create the file of the project. Group commits by kind. Name whoever made the change, and the schedule.',
  ),
  ...skill(
    'trip-planner',
    'Plans a trip: hotels, trains and a schedule for each day.',
    'Create a project for the trip, and a file for each day. Compare hotels. Book trains.',
  ),
};
const OTHERS: Tree = {
  ...skill(
    'kuchen-backen',
    'Backt Kuchen und Torten nach Rezept.',
    'Welche Form du nimmst, steht im Rezept. Torten kann man nach diesem Schritt kühlen. Den Ofen vorheizen, den Teig rühren.',
  ),
  ...skill('recette', 'Donne la recette des crêpes bretonnes.', 'Mélanger la farine et les œufs.'),
  ...skill('ryokou', '旅行の計画を立てる。', '列車とホテルを予約する。'),
  ...skill('hongshaorou', '红烧肉的做法：选择食材和火候。', '先把肉切块。'),
  ...skill('pirogi', 'Готовит пироги по рецепту.', 'Замесить тесто, испечь пирог.'),
};
const FOREIGN: readonly (readonly [string, string])[] = [
  ['German', 'Welche Torten kann ich nach diesem Rezept backen?'],
  ['French', 'Quelle est la recette des crêpes ?'],
  ['Japanese', '旅行の計画を立ててください'],
  ['Chinese', '红烧肉的做法是什么'],
  ['Russian', 'Как испечь пироги по рецепту?'],
];
const NOTHING = {
  skills: [],
  total: 0,
  truncated: false,
  message: expect.stringMatching(/^No skill fits\. Search by meaning is off, .+ use other words, in the language/),
};

describe('a question', () => {
  it.each([
    ['of which a skill has one common word', 'Create a bill for the customers in our accounts'],
    ['about something else', 'Which project should the council vote for in the election this spring?'],
    ['of a name that nobody has', 'Create a Zapier project'],
    ['of two words, one of them unknown', 'elephant file'],
    ['of words that search leaves out elsewhere', 'does it have a'],
    ['with one such word', 'elephants for zebras'],
    ['of many unknown words before one such word', `${longWords(70)} from`],
  ])('%s finds what is nearest, and says that it may not fit', async (_, query) => {
    const { registry } = await openRegistry(ENGLISH);
    const found = registry.list({ query });
    expect(found.total).toBeGreaterThan(0);
    for (const { score } of found.skills) expect(score).toBeGreaterThan(0);
    expect(found.skills.map(({ weak }) => weak)).toEqual(found.skills.map(() => true));
    expect(found.message).toBe('These may not fit; they are only the nearest.');
    const told = await runRegistryTool(registry, 'list_skills', { query });
    expect(told).toMatchObject({ skills: found.skills.map(() => ({ weak: true })), message: found.message });
  });

  it('that fits many skills equally well finds what may not fit', async () => {
    const alike = Array.from({ length: 12 }, (_, n) => skill(`garden-${n}x`, 'Prunes an orchard.', 'Graft the roots.'));
    const { registry } = await openRegistry(Object.assign({}, ENGLISH, ...alike));
    expect(registry.list({ query: 'prune an orchard' }).skills[0]).toHaveProperty('weak', true);
    const few = await openRegistry(Object.assign({}, ENGLISH, ...alike.slice(0, 9)));
    expect(few.registry.list({ query: 'prune an orchard' }).skills[0]).not.toHaveProperty('weak');
    expect(registry.list({ query: 'garden-3x' }).skills[0]).not.toHaveProperty('weak');
  });

  it('of every word in the catalog finds a skill', async () => {
    const { registry } = await openRegistry({ ...ENGLISH, ...OTHERS });
    const lines = registry.list().skills.map(({ skillId, description }) => `${skillId} ${description}`);
    const words = new Set(lines.join(' ').match(/[\p{L}\p{N}]+/gu));
    expect([...words].filter((query) => registry.list({ query }).total === 0)).toEqual([]);
    expect([...words].filter((word) => registry.list({ query: `zyxvut ${word} utsrq` }).total === 0)).toEqual([]);
  });

  it('of one word that stands once in a long text finds that text, and nothing is said', async () => {
    const { registry } = await openRegistry({ ...ENGLISH, ...skill('attic', 'Sorts it.', `${longWords(900)} zither`) });
    expect(registry.list({ query: 'zither' }).skills).toMatchObject([{ skillId: 'attic' }]);
    expect(registry.list({ query: 'zither' }).skills[0]).not.toHaveProperty('weak');
  });

  it('of words that search leaves out finds what is described in them', async () => {
    const { registry } = await openRegistry({ ...ENGLISH, ...skill('helper', 'Does a for whoever asks.', 'So.') });
    expect(registry.list({ query: 'does a' }).skills[0]?.skillId).toBe('helper');
  });

  it.each([
    ['a sentence', 'Plan my trip to the mountains with trains and hotels', 'trip-planner'],
    ['three words', 'plan a trip', 'trip-planner'],
    ['two words', 'review changes', 'code-review'],
    ['a word with a slip', 'relaese commits', 'release-notes'],
    ['a word of the text', 'hotels', 'trip-planner'],
  ])('finds what it asks for as %s, and nothing is said', async (_, query, first) => {
    const { registry } = await openRegistry(ENGLISH);
    const found = registry.list({ query });
    expect(found.skills[0]?.skillId).toBe(first);
    expect(found.skills[0]).not.toHaveProperty('weak');
    expect(found).not.toHaveProperty('message');
    expect(found).not.toHaveProperty('nearest');
  });

  it.each([
    ['please help me plan a large refactoring', 'task-decomposition'],
    ['split a task into smaller steps', 'task-decomposition'],
    ['how do I review a pull request for security problems', 'code-review'],
  ])('finds among few skills what has most of its words: %s', async (query, first) => {
    const { registry } = await openRegistry({}, { sources: [{ shipped: true }] });
    expect(registry.list({ query }).skills[0]).toMatchObject({ skillId: first });
    expect(registry.list({ query }).skills[0]).not.toHaveProperty('weak');
    const other = 'cook a dinner for the elephants of Berlin';
    expect(registry.list({ query: other }).skills[0]).toHaveProperty('weak', true);
  });

  it('leaves out what has less than 40 % of the best rank', async () => {
    const many = Array.from({ length: 40 }, (_, n) =>
      skill(`file-${n}x`, `Puts part ${n} of a thing in order.`, `Create the file of part ${n} for the project.`),
    );
    const { registry } = await openRegistry(Object.assign({}, ENGLISH, ...many));
    expect(registry.list({ query: 'create release notes from the commits of my project' })).toMatchObject({
      skills: [{ skillId: 'release-notes' }],
      total: 1,
      truncated: false,
    });
  });

  it('of no known word is told so by the tool, too, without another key', async () => {
    const { registry } = await openRegistry(ENGLISH);
    expect(await runRegistryTool(registry, 'list_skills', { query: 'blorf zindle quav' })).toEqual({
      success: true,
      ...NOTHING,
    });
  });

  it('about nothing leaves the catalog in order of relevance', async () => {
    const many = Array.from({ length: 60 }, (_, n) => skill(`a-thing-${n}`, `Puts thing number ${n} in order.`, 'So.'));
    const tree = Object.assign({}, ENGLISH, ...many);
    const { registry } = await openRegistry(tree, { catalog: { budget_tokens: 100 } });
    expect(await registry.context('Why would elephants dislike hotels in winter?')).toContain('`trip-planner`');
  });
});

describe.each(FOREIGN)('a question in %s', (_, query) => {
  it('finds no neighbours of its letters among English skills', async () => {
    const { registry } = await openRegistry(ENGLISH);
    const found = registry.list({ query });
    expect(found).toMatchObject(NOTHING);
    expect(found).not.toHaveProperty('nearest');
  });

  it('finds the skill in its language', async () => {
    const { registry } = await openRegistry({ ...ENGLISH, ...OTHERS });
    const { skills } = registry.list({ query });
    expect(Object.keys(OTHERS)).toContain(`skills/${skills[0]?.skillId}/SKILL.md`);
  });
});

it('words of which most are unknown are no slips', async () => {
  const { registry } = await openRegistry(ENGLISH);
  // "backen" is one edit from "backend", "dokument" from "document"; alone, or among known words, a word is a slip.
  const found = registry.list({ query: 'Dokument backen' });
  expect(found).toMatchObject(NOTHING);
  expect(found).not.toHaveProperty('nearest');
  expect(registry.list({ query: 'schedulle trains' }).skills[0]?.skillId).toBe('trip-planner');
});

it('with embeddings a question in other words is answered by meaning, and nothing is said to be off', async () => {
  const { registry } = await semanticRegistry(await embeddingsServer());
  await registry.admin.embedSkills();
  expect((await find(registry, 'mend my car'))[0]?.skillId).toBe('garage');
  const tool = registry.tools().find(({ name }) => name === 'list_skills');
  if (!tool) throw new Error('there is no list_skills');
  const call = { turn: {}, signal: new AbortController().signal };
  expect(await runTool(tool, { query: 'blorf zindle quav' }, call)).toMatchObject({
    total: 0,
    message: 'No skill fits. Use other words for the query.',
  });
});
