import { expect, it } from 'vitest';
import { skill } from '../../helpers/boot-root.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';

const TREE = { 'data/.keep': '', ...skill('tea'), ...skill('bread'), 'skills/tea/references/a.md': 'A.' };
const DIALECT = ['bernstein', 'operator', 'promptkit'];

/** What an agent of each design calls, and how `stats` counts it. */
const CALLS = [
  ['yodoca', 'read_skill', { skill_id: 'tea' }, 'load tea success'],
  [
    'yodoca',
    'read_skill_resource',
    { skill_id: 'tea', path: 'references/a.md' },
    'resource tea success references/a.md',
  ],
  ['bernstein', 'load_skill', { name: 'tea' }, 'load tea success'],
  ['bernstein', 'load_skill', { name: 'tea', reference: 'a.md' }, 'resource tea success references/a.md'],
  ['operator', 'skill', { action: 'view', name: 'tea' }, 'load tea success'],
  ['promptkit', 'skill__activate', { name: 'tea' }, 'load tea success'],
  [
    'promptkit',
    'skill__read_resource',
    { skill_name: 'tea', path: 'references/a.md' },
    'resource tea success references/a.md',
  ],
  ['promptkit', 'skill__activate', { name: 'bread' }, 'refusal bread SKILL_OUT_OF_SCOPE'],
] as const;

it('counts what the agents of five designs load, each with its own tools, under the name of the agent', async () => {
  const { registry } = await openRegistry(TREE, { dialect: DIALECT });
  const bodies = await openRegistry(TREE, { inject: 'bodies' });
  const seen = async ({ usage }: typeof registry, agent: string) =>
    (await usage.events({ agent })).map(({ kind, skillId, outcome, path }) =>
      [kind, skillId, outcome, path].flat().join(' ').trim(),
    );
  for (const [agentId, tool, args] of CALLS)
    await runRegistryTool(registry, tool, args, { agentId, threadId: agentId, boundSkills: ['tea'] });
  for (const agent of new Set(CALLS.map(([of]) => of)))
    expect([agent, await seen(registry, agent)]).toEqual([
      agent,
      CALLS.flatMap(([of, , , as]) => (of === agent ? as : [])),
    ]);
  const coder = { agentId: 'ak-coder', boundSkills: ['tea'] };
  await bodies.registry.context('Make tea', coder);
  await bodies.registry.apply('tea', '', coder);
  expect(await seen(bodies.registry, 'ak-coder')).toEqual(['load tea given', 'load tea success']);
  const { agents, skills } = await registry.usage.report();
  expect(agents.map(({ agent, loads }) => [agent, loads]).sort()).toEqual([
    ['bernstein', 1],
    ['operator', 1],
    ['promptkit', 1],
    ['yodoca', 1],
  ]);
  expect(skills[0]).toMatchObject({ skillId: 'tea', loads: 4, resources: 3, agents: 4 });
});
