import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FLIP_FILE, FLIP_FOLDER, keepBusy, RACE_DEADLINE_MS } from '../helpers/busy-process.ts';
import { callOften, expectBothOutcomes, skillToRaceFor } from '../helpers/skill-race.ts';
import { SECRET } from '../helpers/traps.ts';

it('never reads through a skill directory that flips between itself and a link', async () => {
  const { dir, outside, registry } = await skillToRaceFor();
  const other = await keepBusy(FLIP_FOLDER, [dir, outside]);
  const guide = { skill_id: 'good', path: 'references/guide.md' };
  const answers = await callOften(registry, 'read_skill_resource', guide, 'folder');
  await other.stop();
  expectBothOutcomes(answers, 'Good guide.');
});

it('never loads a SKILL.md that flips between itself and a link', async () => {
  const { root, dir, outside, registry } = await skillToRaceFor();
  const [good, secret] = [join(root, 'good-skill.md'), join(outside, 'SKILL.md')];
  const other = await keepBusy(FLIP_FILE, [join(dir, 'SKILL.md'), good, secret]);
  const answers = await callOften(registry, 'read_skill', { skill_id: 'good' }, 'file');
  await other.stop();
  const contents = new Set([...answers].map((answer) => /"content":"([^"]*)"/.exec(answer)?.[1] ?? answer));
  // On a busy machine an inspection may take longer than an agent waits.
  contents.delete('SKILL_NOT_INSPECTED');
  expect([...contents].sort()).toEqual(['Good body.', 'PATH_TRAVERSAL']);
});

it('never lists what lies in a folder that flips between itself and a link', async () => {
  const { dir, outside, registry } = await skillToRaceFor();
  const other = await keepBusy(FLIP_FOLDER, [join(dir, 'references'), outside]);
  const given = (answers: ReadonlySet<string>) => [...answers].filter((answer) => answer !== 'SKILL_NOT_INSPECTED');
  const answers = await callOften(
    registry,
    'read_skill',
    { skill_id: 'good' },
    'folder',
    (all) => given(all).length > 1,
  );
  await other.stop();
  const lists = given(answers).map((answer) => JSON.parse(answer).resources.map((file: { path: string }) => file.path));
  // The folder under the name it has for a moment is one of the skill's.
  const known = new Set(['references/guide.md', 'references.away/guide.md']);
  expect([...new Set(lists.flat())].filter((path) => !known.has(path))).toEqual([]);
  expect(lists.length).toBeGreaterThan(1);
});

it('never takes a skill from where a flipping directory leads while it is found', async () => {
  const { dir, outside, registry } = await skillToRaceFor();
  const other = await keepBusy(FLIP_FOLDER, [dir, outside]);
  const seen = new Set<string>();
  const until = performance.now() + RACE_DEADLINE_MS;
  for (let n = 0; n < 2000 || (seen.size < 2 && performance.now() < until); n++) {
    const { skills, problems } = await registry.refresh();
    seen.add(
      JSON.stringify([skills.map(({ id, description }) => [id, description]), problems.map(({ code }) => code)]),
    );
  }
  await other.stop();
  expect([...seen].filter((state) => state.includes(SECRET))).toEqual([]);
  expect(seen.size).toBeGreaterThan(1);
  await registry.refresh();
  expect(registry.list().skills).toMatchObject([{ skillId: 'good', description: 'A good skill.' }]);
});
