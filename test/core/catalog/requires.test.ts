import { expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { briefProblems, openRegistry } from '../../helpers/open-registry.ts';
import { type Tree, writeTree } from '../../helpers/temp-folder.ts';

const requiring = (id: string, ...ids: string[]): Tree => skill(id, { requires: `[${ids.join(', ')}]` });

it.each<[string, Tree, readonly string[], RegExp]>([
  ['an unknown id', requiring('a', 'gone', 'gone'), ['REQUIRES_UNKNOWN skills/a/SKILL.md'], /requires "gone", and/],
  [
    'many unknown ids',
    requiring('a', ...'bcdefgh'),
    ['REQUIRES_UNKNOWN skills/a/SKILL.md'],
    /"b", "c", "d", "e", "f" and 2 more/,
  ],
  ['itself', requiring('a', 'a'), ['REQUIRES_SELF skills/a/SKILL.md'], /requires itself/],
  [
    'each other',
    { ...requiring('a', 'b'), ...requiring('b', 'skills:a') },
    ['REQUIRES_CYCLE skills/a/SKILL.md'],
    /a -> b -> a\./,
  ],
  [
    'a circle that is entered from outside',
    { ...requiring('a', 'b'), ...requiring('b', 'c'), ...requiring('c', 'd'), ...requiring('d', 'b') },
    ['REQUIRES_CYCLE skills/b/SKILL.md'],
    /b -> c -> d -> b\./,
  ],
])('says that a skill requires %s', async (_, tree, problems, message) => {
  const { registry, root } = await openRegistry(tree);
  expect(briefProblems(registry.problems(), root)).toEqual(problems);
  expect(registry.problems()[0]).toMatchObject({ severity: 'warning', message: expect.stringMatching(message) });
  expect(registry.list().total).toBe(Object.keys(tree).length);
});

it('has nothing to say of what is there, by whatever way it is reached, or came later', async () => {
  const tree = { ...requiring('a', 'b', 'c'), ...requiring('b', 'skills:d'), ...requiring('c', 'd'), ...skill('d') };
  const { registry, root } = await openRegistry({ ...tree, ...requiring('e', 'f') });
  expect(briefProblems(registry.problems(), root)).toEqual(['REQUIRES_UNKNOWN skills/e/SKILL.md']);
  writeTree(root, skill('f'));
  await registry.refresh();
  expect(registry.problems()).toEqual([]);
});

it('follows a chain of any length', async () => {
  const ids = Array.from({ length: 400 }, (_, n) => `s-${n}`);
  const tree: Tree = Object.assign({}, ...ids.map((id, n) => requiring(id, ids[(n + 1) % ids.length] as string)));
  const { registry } = await openRegistry(tree);
  expect(registry.problems().map(({ code }) => code)).toEqual(['REQUIRES_CYCLE']);
  expect(registry.visible({ boundSkills: ['s-7'] })).toHaveLength(400);
});
