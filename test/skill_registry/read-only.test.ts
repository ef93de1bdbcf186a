import { createSkillRegistry, type SkillRegistry } from 'skill-registry';
import { expect, it, onTestFinished } from 'vitest';
import { skillMd, type Tree, tempFolder, writeTree } from '../helpers/temp-folder.ts';

const NESTED = { name: 'tea', description: 'Brews tea.', tags: '[hot, green]', metadata: '{ deep: { list: [1, 2] } }' };
const PACK = {
  id: 'kitchen',
  skills: ['parts', { name: 'Wash up', description: 'Washes.', instructions: 'Wash.' }],
  workflow: { entry: 'day', states: { day: { skills: 'wash-up' }, night: {} } },
};
const TREE: Tree = {
  'skills/tea/SKILL.md': skillMd(NESTED, 'Boil water.'),
  'skills/tea/notes.md': 'Notes.',
  'skills/mug/SKILL.md': skillMd({ name: 'cup', description: 'Holds.', requires: '[tea]', arguments: '[size]' }),
  'skills/gated/SKILL.md': skillMd({
    name: 'gated',
    description: 'G.',
    metadata: '{ openclaw: { requires: { bins: [none-such] } } }',
  }),
  'more/tea/SKILL.md': skillMd({ name: 'tea', description: 'Other tea.' }),
  'pack/kitchen.json': JSON.stringify(PACK),
  'pack/parts/pan/SKILL.md': skillMd({ name: 'pan', description: 'Fries.' }),
};
const TURN = { boundSkills: ['tea', 'more:tea', 'mug'] };

/** A source of somebody else's, which keeps what it has given. */
function theirs() {
  const metadata = { deep: { list: ['a'] } };
  const jug = {
    id: 'jug',
    description: 'Pours.',
    body: 'Pour.',
    frontmatter: { tags: ['x'], metadata },
    files: { 'a.md': 'x' },
  };
  return { source: { id: 'own', skills: [jug] }, metadata };
}

async function open(): Promise<{ root: string; registry: SkillRegistry; given: ReturnType<typeof theirs> }> {
  const root = tempFolder(TREE);
  const registry = await createSkillRegistry({
    root,
    config: {
      sources: [{ path: 'skills', preload: true }, { path: 'more' }, { path: 'gone' }, { pack: 'pack/kitchen.json' }],
      writes: { delete: 'deny' },
      gates: { settings: { browser: { enabled: true } } },
    },
  });
  onTestFinished(() => registry.close());
  const given = theirs();
  await registry.addSource(given.source);
  return { root, registry, given };
}

/** Everything a reader is handed that may be the registry's own. */
const handedOut = (registry: SkillRegistry): readonly unknown[] => [
  registry.problems(),
  registry.config,
  registry.visible(),
  registry.visible(TURN),
  registry.visible({ workflowState: { pack: 'kitchen', state: 'day' } }),
  registry.visible({}, 'person'),
  registry.list(),
  registry.list({ query: 'tea', why: true }),
  registry.admin.resources('tea'),
  registry.admin.resources('jug'),
];

/** What all of it says, maps included. */
function told(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    part && typeof part.entries === 'function' && !Array.isArray(part) ? [...part.entries()] : part,
  );
}

/** Tries to change whatever can be reached from it. */
function vandalize(value: unknown, seen = new Set<unknown>()): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  const parts = [...Object.values(value)];
  if ('entries' in value && !Array.isArray(value))
    parts.push(...[...(value as Map<unknown, unknown>).entries()].flat());
  for (const part of parts) vandalize(part, seen);
  const map = value as unknown as Map<unknown, unknown>;
  const attempts = [
    ...Object.keys(value).flatMap((key) => [
      () => Reflect.set(value, key, 'vandalized'),
      () => Reflect.deleteProperty(value, key),
      () => Object.defineProperty(value, key, { value: 'vandalized' }),
    ]),
    () => Reflect.set(value, 'vandalized', true),
    () => (value as unknown[]).push('vandalized'),
    () => (value as unknown[]).splice(0),
    () => map.set('vandalized', {}),
    () => map.clear(),
    () => Map.prototype.set.call(map, 'vandalized', {}),
    () => Map.prototype.clear.call(map),
  ];
  for (const attempt of attempts) {
    try {
      attempt();
    } catch {
      // That is what is wanted.
    }
  }
}

it('nothing a reader does with what it is handed changes what the next reader is handed', async () => {
  const { root, registry } = await open();
  await registry.admin.prepareSearch();
  let heard: readonly unknown[] = [];
  const stop = registry.onChange((...given) => vandalize(given));
  registry.onChange((...given) => {
    heard = given;
  });
  writeTree(root, { 'skills/late/SKILL.md': skillMd({ name: 'late', description: 'Came late.' }) });
  await registry.refresh();
  expect(heard).toEqual([['late'], registry.snapshot()]);
  vandalize(registry.snapshot());
  const before = [told(handedOut(registry)), await registry.context(''), await registry.context('', TURN)];
  expect(before[0]).toContain('"deep":{"list":[1,2]}');
  expect(before[0]).toContain('"list":["a"]');
  expect(registry.problems().length).toBeGreaterThan(3);
  const { version, skills, sources, problems } = registry.snapshot();
  vandalize([registry.snapshot(), handedOut(registry), registry.snapshot().skills]);
  expect(registry.snapshot()).toMatchObject({ version, skills, sources, problems });
  vandalize(await registry.read('mug'));
  vandalize(await registry.admin.tokenCounts());
  expect([told(handedOut(registry)), await registry.context(''), await registry.context('', TURN)]).toEqual(before);
  stop();
  // The maps of a snapshot are copies for its callers: the registry has its own, also for the next snapshot.
  writeTree(root, { 'skills/later/SKILL.md': skillMd({ name: 'later', description: 'Came later.' }) });
  const { byId, byQualifiedId, packs } = await registry.refresh();
  expect(byId.get('tea')).toMatchObject({ tags: ['hot', 'green'] });
  expect([...byId.keys()]).toEqual(registry.snapshot().skills.map(({ id }) => id));
  expect(byQualifiedId.get('more:tea')).toMatchObject({ description: 'Other tea.' });
  expect([...(packs.get('kitchen')?.scopes.states.keys() ?? [])]).toEqual(['day', 'night']);
  expect(registry.visible().every((skill) => Object.isFrozen(skill))).toBe(true);
});

it('what is handed out looks like the arrays and maps it stands for', async () => {
  const { registry } = await open();
  const { byId, packs } = registry.snapshot();
  expect(byId.size).toBe([...byId].length);
  expect(new Map(byId).get('tea')).toBe(byId.get('tea'));
  expect([...byId.keys()]).toEqual([...byId.values()].map(({ id }) => id));
  const seen: unknown[] = [];
  byId.forEach((skill, id, map) => void seen.push([id, skill, map === byId]));
  expect(seen).toEqual([...byId].map(([id, skill]) => [id, skill, true]));
  expect(byId.has('tea')).toBe(true);
  expect(String(packs.get('kitchen')?.scopes.states)).toBe('[object Map]');
});

it('what a host or somebody’s source has given stays theirs to change', async () => {
  const settings = { browser: { enabled: true } };
  const { registry, given } = await open();
  const other = await createSkillRegistry({ root: tempFolder(), config: { gates: { settings } } });
  await other.close();
  settings.browser.enabled = false;
  given.metadata.deep.list.push('b');
  expect(other.config.gates.settings).toEqual({ browser: { enabled: true } });
  expect(registry.snapshot().byId.get('jug')?.metadata).toEqual({ deep: { list: ['a'] } });
  await registry.refresh();
});
