import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runProgram } from '../../../helpers/run-command.ts';
import { TEA } from '../../../helpers/tea.ts';
import { tempFolder, writeTree } from '../../../helpers/temp-folder.ts';

it('keeps every entry when two projects install for the person at once', async () => {
  const [home, from] = [tempFolder(), tempFolder()];
  const ids = Array.from({ length: 24 }, (_, n) => `tea-${n}`).sort();
  for (const id of ids) writeTree(from, { [`${id}/SKILL.md`]: TEA.replace('name: tea', `name: ${id}`) });
  const environment = { HOME: home, XDG_STATE_HOME: join(home, 'state') };
  const install = (half: number) => {
    const own = JSON.stringify(ids.filter((_, at) => at % 2 === half));
    const program = `const registry = await createSkillRegistry({ root: ${JSON.stringify(tempFolder())}, presets: true });
      for (const id of ${own}) {
        const plan = await registry.origin.add(${JSON.stringify(from)}, { skills: [id], to: 'claude-home' });
        await plan.apply({ by: 'person:ada' });
      }
      await registry.close();`;
    return runProgram(program, { environment });
  };
  for (const { status, stderr } of await Promise.all([install(0), install(1)]))
    expect([status, stderr]).toEqual([0, '']);
  const { skills } = JSON.parse(readFileSync(join(home, 'state/skill-registry/skills-lock.json'), 'utf8'));
  expect(Object.keys(skills)).toEqual(ids);
});
