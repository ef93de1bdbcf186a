import { describe, expect, it } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

const skill = (name: string, description: string, fields: Readonly<Record<string, string>> = {}): string =>
  skillMd({ name, description, ...fields });

const tree: Tree = {
  'one/code-review/SKILL.md': skill('code-review', 'Reviews code.', { tags: '[quality, Code]' }),
  'one/pdf-forms/SKILL.md': skill('Fill PDFs', 'Fills in forms.', { tags: 'documents' }),
  'two/review-notes/SKILL.md': skill('review-notes', 'Writes notes after a code review.', { tags: '[quality]' }),
};
const sources = { sources: [{ path: 'one' }, { path: 'two' }] };

async function list(args: unknown, turn = {}) {
  const { registry } = await openRegistry(tree, sources);
  return runRegistryTool(registry, 'list_skills', args, turn);
}

async function idsFor(args: unknown): Promise<readonly string[]> {
  const result = await list(args);
  return (result.skills as readonly { readonly skill_id: string }[]).map(({ skill_id }) => skill_id);
}

it('gives every field of every skill, in the order of the catalog', async () => {
  expect(await list({})).toEqual({
    success: true,
    skills: [
      {
        skill_id: 'code-review',
        name: 'code-review',
        description: 'Reviews code.',
        tags: ['quality', 'Code'],
        source: 'one',
      },
      { skill_id: 'pdf-forms', name: 'Fill PDFs', description: 'Fills in forms.', tags: ['documents'], source: 'one' },
      {
        skill_id: 'review-notes',
        name: 'review-notes',
        description: 'Writes notes after a code review.',
        tags: ['quality'],
        source: 'two',
      },
    ],
    total: 3,
    truncated: false,
  });
});

it('of nothing is an empty list', async () => {
  const { registry } = await openRegistry();
  expect(await runRegistryTool(registry, 'list_skills', {})).toEqual({
    success: true,
    skills: [],
    total: 0,
    truncated: false,
  });
});

describe('a query', () => {
  it.each([
    ['an id first, whatever else matches', 'code-review', ['code-review', 'review-notes']],
    ['a name', 'fill pdfs', ['pdf-forms']],
    ['a tag', 'documents', ['pdf-forms']],
    ['any case of letters, and other forms of a word', 'REVIEWING', ['code-review', 'review-notes']],
    ['words of one edit', 'documnets', ['pdf-forms']],
    ['part of a word', 'orm', ['pdf-forms']],
    ['what has all of the words before what has one of them', 'notes code', ['review-notes', 'code-review']],
    ['what is nearest when the word that matters is nowhere', 'code elephants', ['code-review', 'review-notes']],
    ['what says a word that search leaves out elsewhere', 'after', ['review-notes']],
    ['nothing when no word is known', 'elephants abound', []],
    ['nothing when there is no word in it', '?!', []],
    ['everything when it is blank', '  ', ['code-review', 'pdf-forms', 'review-notes']],
  ])('finds %s', async (_, query, ids) => {
    expect(await idsFor({ query })).toEqual(ids);
  });

  it('scores between 0 and 1, best first; without one there is no score', async () => {
    const result = await list({ query: 'review' });
    const scores = (result.skills as readonly { readonly score: number }[]).map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    for (const score of scores) expect(score > 0 && score <= 1).toBe(true);
    expect(JSON.stringify(await list({ query: ' ' }))).not.toContain('score');
  });
});

describe('a filter', () => {
  it.each([
    [{ tag: 'quality' }, ['code-review', 'review-notes']],
    [{ tag: 'quality', source: 'two' }, ['review-notes']],
    [{ tag: 'qual' }, []],
    [{ source: 'one' }, ['code-review', 'pdf-forms']],
    [{ source: 'three' }, []],
    [{ source: 'one', query: 'review' }, ['code-review']],
  ])('%j keeps %j', async (args, ids) => {
    expect(await idsFor(args)).toEqual(ids);
  });
});

describe('the limit', () => {
  it.each([
    [{ limit: 1 }, 1, true],
    [{ limit: 2 }, 2, true],
    [{ limit: 3 }, 3, false],
    [{ limit: 200 }, 3, false],
    [{ limit: 1, query: 'pdf' }, 1, false],
    [{ limit: 1, query: 'review' }, 1, true],
  ])('%j gives %i, truncated: %s', async (args, count, truncated) => {
    const result = await list(args);
    expect(result.skills).toHaveLength(count);
    expect(result.truncated).toBe(truncated);
  });

  it('is 20 when it is not given, and the total tells of the rest', async () => {
    const many = Array.from({ length: 25 }, (_, at) => [`skills/s${at}/SKILL.md`, skill(`s${at}`, 'One of many.')]);
    const { registry } = await openRegistry(Object.fromEntries(many));
    const result = await runRegistryTool(registry, 'list_skills', {});
    expect(result).toMatchObject({ total: 25, truncated: true });
    expect(result.skills).toHaveLength(20);
  });

  it('is held to from the library as well', async () => {
    const { registry } = await openRegistry(tree, sources);
    for (const limit of [0, 201, 1.5, Number.NaN, -1]) {
      expect(() => registry.list({ limit })).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
    }
  });
});

it.each([
  [{ limit: 0 }, 'limit'],
  [{ limit: 201 }, 'limit'],
  [{ limit: 2.5 }, 'limit'],
  [{ limit: '5' }, 'limit'],
  [{ query: 5 }, 'query'],
  [{ query: 'x'.repeat(501) }, 'query'],
  [{ tag: ['a'] }, 'tag'],
  [{ source: null }, 'source'],
  [{ search: 'x' }, 'search'],
  ['text', 'list_skills'],
  [null, 'list_skills'],
])('refuses %j', async (args, named) => {
  const result = await list(args);
  expect(result).toMatchObject({ success: false, error: { code: 'INVALID_ARGUMENT' } });
  expect(JSON.stringify(result)).toContain(named);
});

describe('trigger keywords', () => {
  const kitchen: Tree = {
    'skills/brewing/SKILL.md': skill('brewing', 'Does it.', { trigger_keywords: '[Oolong, "hot water", c++]' }),
    'skills/leaves/SKILL.md': skill('leaves', 'Does it.', { tags: '[oolong, water]' }),
    'skills/other/SKILL.md': skill('other', 'Does it with oolong.'),
  };
  const found = async (query: string) => {
    const { registry } = await openRegistry(kitchen);
    return registry.list({ query }).skills.map(({ skillId, score }) => [skillId, score]);
  };

  it.each(['oolong', ' OOLONG ', 'hot water', 'Hot  Water', 'c++'])(
    'a query equal to one scores 0.85, before whatever else matches: %j',
    async (query) => {
      const [first, ...others] = await found(query);
      expect(first).toEqual(['brewing', 0.85]);
      for (const [, score] of others) expect(score).toBeLessThan(0.85);
    },
  );

  it('a word of one is found as a tag is', async () => {
    expect((await found('water')).map(([id]) => id).sort()).toEqual(['brewing', 'leaves']);
    expect((await found('water hot oolong'))[0]?.[0]).toBe('brewing');
  });
});
