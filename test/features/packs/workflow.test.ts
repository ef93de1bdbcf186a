import { expect, it } from 'vitest';
import { runCommand } from '../../helpers/run-command.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

/** A root whose pack has a state for each of its two skills. */
function root(): string {
  const states = { first: { on_event: { on: 'second' }, skills: 'tea' }, second: { skills: 'cup' } };
  const skill = (name: string) => ({
    [`skills/${name}/SKILL.md`]: skillMd({ name, description: `About ${name}.` }, 'Do.'),
  });
  return tempFolder({
    ...skill('tea'),
    ...skill('cup'),
    'pack.json': JSON.stringify({
      id: 'kitchen',
      skills: ['./skills'],
      workflow: { version: 1, entry: 'first', states },
    }),
    'data/skill_registry/config.yaml': 'sources: [{ pack: pack.json }]\n',
    'extensions/cook/manifest.yaml':
      'id: cook\nname: Cook\nversion: 1.0.0\nagent: { integration_mode: handoff, instructions: Cook., uses_skills: [tea] }\n',
  });
}

const idsOf = (stdout: string): readonly string[] =>
  JSON.parse(stdout).skills.map(({ skill_id }: { skill_id: string }) => skill_id);

it('lists what an agent sees in a state of a workflow', async () => {
  const cwd = root();
  const list = (...args: readonly string[]) => runCommand(['list', '--json', ...args], { cwd });
  expect(idsOf((await list()).stdout)).toEqual(['cup', 'tea']);
  expect(idsOf((await list('--workflow', 'kitchen')).stdout)).toEqual(['tea']);
  expect(idsOf((await list('--workflow', 'kitchen:second')).stdout)).toEqual(['cup']);
});

it('says with --all which agents see a skill in that state, and why the others do not', async () => {
  const { stdout } = await runCommand(['list', '--all', '--json', '--workflow', 'kitchen:second'], { cwd: root() });
  const seen = JSON.parse(stdout).skills.map(
    (row: { skill_id: string; seen_by: readonly string[] }) => [row.skill_id, row.seen_by.includes('cook')] as const,
  );
  expect(Object.fromEntries(seen)).toEqual({ cup: false, tea: false });
});

it('refuses a state that there is not, and says which there are', async () => {
  for (const command of ['list', 'mcp']) {
    const { status, stderr } = await runCommand([command, '--workflow', 'kitchen:third'], { cwd: root() });
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining('The workflow "kitchen" has no state "third". Its states: "first", "second".'),
    ]);
  }
});
