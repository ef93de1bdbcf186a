import type { Skill } from 'skill-registry';
import { expect, it } from 'vitest';
import { type Merged, mergeSources } from '../../../extensions/skill_registry/core/catalog/merge.ts';
import { fakeSkill } from '../../helpers/fake-skill.ts';

const merge = (sources: readonly (readonly Skill[])[], collision?: 'first' | 'last' | 'error'): Promise<Merged> =>
  mergeSources(
    sources.map((skills) => ({ skills })),
    collision,
  );

const ids = (skills: readonly { readonly qualifiedId: string }[]): readonly string[] =>
  skills.map(({ qualifiedId }) => qualifiedId);

it('skills stand in order of source, then of id', async () => {
  const { skills, problems } = await merge([
    [fakeSkill('z', { source: 'one' }), fakeSkill('a', { source: 'one' })],
    [],
    [fakeSkill('m', { source: 'two' }), fakeSkill('b', { source: 'two' })],
  ]);
  expect(ids(skills)).toEqual(['one:a', 'one:z', 'two:b', 'two:m']);
  expect(problems).toEqual([]);
});

it('the first of an id wins; the others are named in a problem and keep their qualified id', async () => {
  const winner = fakeSkill('a', { source: 'one', digest: 'sha256:1' });
  const second = fakeSkill('a', { source: 'two', digest: 'sha256:2' });
  const third = fakeSkill('a', { source: 'three', digest: 'sha256:3' });
  const { skills, byId, byQualifiedId, problems } = await merge([[winner], [second], [third]]);
  expect(skills).toEqual([winner]);
  expect(byId.get('a')).toBe(winner);
  expect(['one:a', 'two:a', 'three:a'].map((id) => byQualifiedId.get(id))).toEqual([winner, second, third]);
  expect(problems).toMatchObject([
    {
      code: 'SKILL_ID_TAKEN',
      severity: 'warning',
      file: second.file,
      details: { winner: winner.file, loser: second.file, winner_id: 'one:a', loser_id: 'two:a' },
    },
    { code: 'SKILL_ID_TAKEN', file: third.file, details: { winner: winner.file, loser: third.file } },
  ]);
  expect(problems[0]?.message).toContain('"two:a"');
});

it('the first path wins within one source', async () => {
  const first = fakeSkill('a', { qualifiedId: 's:x/a', dir: '/s/x/a', digest: 'sha256:1' });
  const second = fakeSkill('a', { qualifiedId: 's:y/a', dir: '/s/y/a', digest: 'sha256:2' });
  const { skills, problems } = await merge([[first, second]]);
  expect(ids(skills)).toEqual(['s:x/a']);
  expect(problems).toMatchObject([{ details: { winner_id: 's:x/a', loser_id: 's:y/a' } }]);
});

it('identical content under one id collapses silently and is reached by both qualified ids', async () => {
  const { skills, byQualifiedId, problems } = await merge([
    [fakeSkill('a', { source: 'one', digest: 'sha256:1' })],
    [fakeSkill('a', { source: 'two', digest: 'sha256:1' })],
  ]);
  expect(ids(skills)).toEqual(['one:a']);
  expect([...byQualifiedId.keys()]).toEqual(['one:a', 'two:a']);
  expect(problems).toEqual([]);
});

it('one real directory that two sources lead to is no collision, even when it was read at two moments', async () => {
  const { skills, problems } = await merge([
    [fakeSkill('a', { source: 'one', dir: '/real/a', digest: 'sha256:1' })],
    [fakeSkill('a', { source: 'two', dir: '/real/a', digest: 'sha256:2' })],
  ]);
  expect(ids(skills)).toEqual(['one:a']);
  expect(problems).toEqual([]);
});

it('nothing merges to nothing', async () => {
  expect(await merge([[], []])).toMatchObject({ skills: [], problems: [] });
});

it('the last wins where the policy says so', async () => {
  const first = fakeSkill('a', { source: 'one', digest: 'sha256:1' });
  const last = fakeSkill('a', { source: 'two', digest: 'sha256:2' });
  const { skills, problems } = await merge([[first], [last]], 'last');
  expect(skills).toEqual([last]);
  expect(problems).toMatchObject([{ code: 'SKILL_ID_TAKEN', severity: 'warning', file: first.file }]);
});

it('of one file in the first and the third source, the later counts where the last wins', async () => {
  const same = { dir: '/real/a', digest: 'sha256:1' };
  const one = fakeSkill('a', { source: 'one', ...same });
  const two = fakeSkill('a', { source: 'two', digest: 'sha256:2' });
  const three = fakeSkill('a', { source: 'three', ...same });
  expect(ids((await merge([[one], [two], [three]], 'last')).skills)).toEqual(['three:a']);
  expect(ids((await merge([[one], [two], [three]], 'first')).skills)).toEqual(['one:a']);
  expect((await merge([[one], [two], [three]], 'last')).problems).toMatchObject([{ details: { loser_id: 'two:a' } }]);
  // Within one source the order is that of finding, and a link comes last.
  const link = fakeSkill('link', { source: 'one', ...same });
  expect(ids((await merge([[one, link]], 'last')).skills)).toEqual(['one:a']);
});

it('a loser is told by the name it was given, and of directories only where there are some', async () => {
  const inline = { realFile: null, file: '/config.yaml' };
  const first = { ...fakeSkill('tea-time', { source: 'one', digest: 'sha256:1', ...inline }), dir: null };
  const second = { ...fakeSkill('tea-time', { source: 'two', name: 'Tea Time!', ...inline }), dir: null };
  const [problem] = (await merge([[first], [second]])).problems;
  expect(problem?.message).toContain('Another skill "tea-time" comes first');
  expect(problem?.message).toContain('this one ("Tea Time!")');
  expect(problem?.message).toContain('Rename one of them,');
  const folders = await merge([[fakeSkill('a')], [fakeSkill('a', { source: 'two', digest: 'x' })]]);
  expect(folders.problems[0]?.message).toContain('Rename one of the directories,');
});

it('nobody has an id that several claim where a collision is an error, and each clash is named', async () => {
  const [one, two, three] = ['one', 'two', 'three'].map((source) =>
    fakeSkill('a', { source, digest: `sha256:${source}` }),
  );
  const { skills, byQualifiedId, problems } = await merge(
    [[one as Skill, fakeSkill('b')], [two as Skill], [three as Skill]],
    'error',
  );
  expect(ids(skills)).toEqual(['s:b']);
  expect([...byQualifiedId.keys()]).toEqual(['one:a', 's:b', 'two:a', 'three:a']);
  expect(problems.map(({ severity, file }) => [severity, file])).toEqual([
    ['error', two?.file],
    ['error', three?.file],
  ]);
});
