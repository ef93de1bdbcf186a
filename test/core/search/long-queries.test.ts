import { expect, it } from 'vitest';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

const skill = (id: string, description: string, body: string): Tree => ({
  [`skills/${id}/SKILL.md`]: skillMd({ name: id, description }, body),
});
/** Different words that no skill has. */
const others = (count: number): string =>
  Array.from({ length: count }, (_, n) => `qx${'abcdefghij'[n % 10]}${n}`).join(' ');
const GARDEN = 'prune orchard graft roots';
const KITCHEN = 'knead dough proof loaves';
const TREE: Tree = {
  ...skill('garden', 'Looks after trees.', `${GARDEN}.`),
  ...skill('kitchen', 'Looks after bread.', `${KITCHEN}.`),
  ...skill('house', 'Looks after a house.', 'Sweep the stairs.'),
};

it('of a long query is about what stands at its beginning', async () => {
  const { registry } = await openRegistry(TREE);
  const first = (query: string): string | undefined => registry.list({ query }).skills[0]?.skillId;
  expect(first(`${GARDEN} ${others(60)} ${KITCHEN}`)).toBe('garden');
  expect(first(`${KITCHEN} ${others(60)} ${GARDEN}`)).toBe('kitchen');
});

it('of up to 24 words counts each the same, wherever it stands', async () => {
  const { registry } = await openRegistry(TREE);
  const scores = (query: string): ReadonlyMap<string, number | undefined> =>
    new Map(registry.list({ query }).skills.map(({ skillId, score }) => [skillId, score]));
  const asked = scores(`${GARDEN} ${others(16)} ${KITCHEN}`);
  expect(asked.get('garden')).toBe(asked.get('kitchen'));
  expect(scores(`${KITCHEN} ${others(16)} ${GARDEN}`)).toEqual(asked);
});

it('of a long query takes the length of a skill into account more than a short one does', async () => {
  const shared = 'prune orchard graft roots ladder';
  const sentences = Array.from({ length: 300 }, (_, n) => `Measure the plot number ${n} again.`).join(' ');
  const { registry } = await openRegistry({
    ...skill('brief', 'Looks after trees.', `${shared}.`),
    ...skill('detailed', 'Looks after trees.', `${shared} mulch. ${sentences}`),
    ...skill('house', 'Looks after a house.', 'Sweep the stairs.'),
  });
  const found = (query: string): readonly string[] => registry.list({ query }).skills.map(({ skillId }) => skillId);
  expect(found(`${shared} mulch`)).toEqual(['brief', 'detailed']);
  expect(found(`${shared} mulch ${others(60)}`)).toEqual(['brief']);
});
