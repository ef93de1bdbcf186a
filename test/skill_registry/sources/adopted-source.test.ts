import type { Skill, SkillSource } from 'skill-registry';
import { expect, it } from 'vitest';
import { adoptSource } from '../../../extensions/skill_registry/sources/kinds/adopted-source.ts';
import { fakeSkill } from '../../helpers/fake-skill.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { skillMd } from '../../helpers/temp-folder.ts';

const GOOD = { 'skills/good/SKILL.md': skillMd({ name: 'good', description: 'Good.' }) };

function foreign(members: Readonly<Record<string, unknown>>): SkillSource {
  return {
    id: 'foreign',
    kind: 'own',
    location: 'somewhere',
    scan: async () => ({ skills: [fakeSkill('theirs', { source: 'foreign' })], problems: [] }),
    readSkill: () => Buffer.from('---\nname: theirs\n---\nBody.'),
    resources: () => [],
    readResource: () => Buffer.from(''),
    watchFolders: () => [],
    contains: () => false,
    ...members,
  } as SkillSource;
}

const giving = (scan: unknown): Readonly<Record<string, unknown>> => ({ scan: async () => scan });
const withField = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  giving({ skills: [{ ...fakeSkill('theirs', { source: 'foreign' }), ...fields }], problems: [] });

it.each<[string, Readonly<Record<string, unknown>>]>([
  ['problems that are none', giving({ skills: [], problems: [null, {}, 7] })],
  ['skills that are none', giving({ skills: [null, 7, {}], problems: [] })],
  ['nothing at all', giving(undefined)],
  [
    'a scan that throws',
    {
      scan: () => {
        throw new Error('no');
      },
    },
  ],
  ['scopes without states', { scopes: () => ({}) }],
  [
    'scopes that throw',
    {
      scopes: () => {
        throw new Error('no');
      },
    },
  ],
  ['half a gate', withField({ gate: { os: ['linux'] } })],
  ['tags that are null', withField({ tags: null })],
  ['tags that are undefined', withField({ tags: undefined })],
  ['a description that is a number', withField({ description: 7 })],
  ['metadata that is a list', withField({ metadata: [] })],
  [
    'watch folders that throw',
    {
      watchFolders: () => {
        throw new Error('no');
      },
    },
  ],
  [
    'contains that throws',
    {
      contains: () => {
        throw new Error('no');
      },
    },
  ],
  ['resources that are none', { resources: () => 'all' }],
])('a foreign source that gives %s leaves everything else as it is', async (_what, members) => {
  const { registry } = await openRegistry(GOOD);
  const remove = await registry.addSource(foreign(members));
  await registry.refresh();
  expect(registry.list({ query: 'good' }).total).toBe(1);
  expect(registry.list({ tag: 'x' }).total).toBe(0);
  expect(await registry.context('')).toContain('`good`');
  for (const { code, message } of registry.problems()) expect(`${code} ${message}`).not.toContain('undefined');
  if (registry.snapshot().byId.has('theirs')) await registry.read('theirs');
  await remove();
  expect(registry.list().skills.map(({ skill_id }) => skill_id)).toEqual(['good']);
});

it('a scan that never settles has failed after a while, and what was there stays', async () => {
  let stuck = false;
  const scan = (): Promise<unknown> =>
    stuck
      ? new Promise(() => {})
      : Promise.resolve({ skills: [fakeSkill('theirs', { source: 'foreign' })], problems: [] });
  const adopted = adoptSource(foreign({ scan }), 'mine', 50);
  const limits = { skill_tokens: 1, resource_bytes: 1, file_bytes: 1, scan_depth: 1 };
  expect((await adopted.scan(limits, async () => {})).skills.map((skill: Skill) => skill.qualifiedId)).toEqual([
    'mine:theirs',
  ]);
  stuck = true;
  await expect(adopted.scan(limits, async () => {})).rejects.toThrow('did not settle');
});
