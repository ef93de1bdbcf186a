import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scriptedServer, servedSkill } from '../../helpers/mcp-server.ts';
import { briefProblems, openRoot } from '../../helpers/open-registry.ts';
import { runCommand } from '../../helpers/run-command.ts';
import { skillMd, tempFolder } from '../../helpers/temp-folder.ts';

it('starts nothing and contacts nobody in a root that no person has approved', async () => {
  const address = await scriptedServer([servedSkill('cup')]);
  const ran = join(tempFolder(), 'ran');
  const program = `require('node:fs').writeFileSync(${JSON.stringify(ran)}, '')`;
  const sources = [
    { id: 'far', mcp: { command: process.execPath, args: ['-e', program] } },
    { id: 'near', mcp: { url: address.url } },
    { path: 'skills' },
  ];
  const root = tempFolder({
    'skills/mug/SKILL.md': skillMd({ name: 'mug', description: 'Holds.' }),
    'data/skill_registry/config.yaml': JSON.stringify({ sources }),
  });
  const { stdout } = await runCommand(['list', '--json', '--root', root], { trust: false });
  const { skills, problems } = JSON.parse(stdout) as {
    skills: { skill_id: string }[];
    problems: { code: string; message: string }[];
  };
  expect(skills.map(({ skill_id }) => skill_id)).toEqual(['mug']);
  expect(problems).toContainEqual(
    expect.objectContaining({
      code: 'ROOT_NOT_APPROVED',
      message: expect.stringMatching(/sources\.0 \(mcp\).*sources\.1 \(mcp\)/),
    }),
  );
  // Also not when a program says so and has not approved the root.
  const registry = await openRoot(root, { trust: false, config: { sources } });
  await registry.addSource({ id: 'late', mcp: { url: address.url } });
  expect(briefProblems(registry.problems(), root)).toEqual(Array(3).fill('ROOT_NOT_APPROVED .'));
  expect([...registry.snapshot().byQualifiedId.keys()]).toEqual(['skills:mug']);
  expect([existsSync(ran), address.connections()]).toEqual([false, 0]);
  // The same sources work once the root is approved, so nothing else has kept them from it.
  await runCommand(['list', '--json', '--root', root]);
  expect([existsSync(ran), address.connections() > 0]).toEqual([true, true]);
});
