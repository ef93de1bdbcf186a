import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from 'skill-registry/kernel';
import { expect, it } from 'vitest';
import { callTool, httpClient, serveRegistry } from '../../helpers/mcp.ts';
import { briefProblems, openRegistry } from '../../helpers/open-registry.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';

const skill = (name: string, more: Record<string, unknown> = {}) =>
  skillMd({ name, description: `About ${name}.`, ...more }, `Body of ${name}.`);

const TREE: Tree = {
  'skills/tea/SKILL.md': skill('tea', { requires: ['kettle'] }),
  'skills/kettle/SKILL.md': skill('kettle'),
  'skills/bread/SKILL.md': skill('bread', { tags: ['kitchen'] }),
  'team/bread/SKILL.md': skill('bread', { description: 'Bread of the team.' }),
  'team/rye/SKILL.md': skill('rye', { tags: ['kitchen'], requires: ['salt'] }),
  'team/quiet/SKILL.md': skill('quiet', { tags: ['kitchen'], 'disable-model-invocation': true }),
  'skills/salt/SKILL.md': skill('salt', { tags: ['kitchen'] }),
};
const SOURCES = [{ path: 'skills' }, { path: 'team' }];

const idsOf = (skills: readonly { readonly id: string }[]): string[] => skills.map(({ id }) => id).sort();

it('shows an agent of the config what its ids, sources and tags name, whatever the caller says', async () => {
  const agents = {
    brewer: { skills: ['tea'] },
    baker: { sources: ['team'] },
    cook: { tags: { team: ['kitchen'] } },
    both: { skills: ['tea'], tags: { skills: ['kitchen'] } },
    everyone: { skills: ['*'] },
    nobody: {},
  };
  const { registry } = await openRegistry(TREE, { sources: SOURCES, agents });
  const seen = (agentId: string): string[] => idsOf(registry.visible({ agentId, boundSkills: ['*'] }));
  expect(seen('brewer')).toEqual(['kettle', 'tea']);
  // The skill of another source has the short id, so this one is listed by its whole name; both names read it.
  expect(seen('baker')).toEqual(['rye', 'team:bread']);
  await expect(registry.read('bread', {}, { agentId: 'baker' })).resolves.toMatchObject({ source: 'team' });
  // What a skill of such a scope requires does not come with it, and what hides itself stays hidden.
  expect(seen('cook')).toEqual(['rye']);
  for (const id of ['salt', 'quiet', 'bread', 'skills:bread', 'team:bread'])
    await expect(registry.read(id, {}, { agentId: 'cook' }), id).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  expect(seen('both')).toEqual(['bread', 'kettle', 'salt', 'tea']);
  expect(seen('everyone')).toEqual(['bread', 'kettle', 'rye', 'salt', 'tea']);
  expect(seen('nobody')).toEqual([]);
  expect(registry.admin.agents()).toContainEqual({ agentId: 'brewer', boundSkills: ['tea'] });
});

it('follows the files: a tag in another source, or one that is taken away, changes what such an agent sees', async () => {
  const { registry, root } = await openRegistry(TREE, {
    sources: SOURCES,
    agents: { cook: { tags: { team: ['kitchen'] } } },
  });
  writeFileSync(join(root, 'team/rye/SKILL.md'), skill('rye'));
  mkdirSync(join(root, 'team/oat'));
  writeFileSync(join(root, 'team/oat/SKILL.md'), skill('oat', { tags: ['kitchen'] }));
  await registry.refresh();
  expect(idsOf(registry.visible({ agentId: 'cook' }))).toEqual(['oat']);
});

it('leaves out an agent with anything wrong in it, and one that a manifest declares, too', async () => {
  const agents = {
    wrong: { skills: ['*'], propses: false },
    Upper: { skills: ['*'] },
    builder_agent: { skills: ['*'] },
    right: { skills: ['tea'] },
  };
  const { registry, root } = await openRegistry(TREE, { agents: agents as never });
  expect(registry.admin.agents().map(({ agentId }) => agentId)).toEqual(['right']);
  expect(briefProblems(registry.problems(), root).filter((line) => !line.startsWith('SKILL_'))).toEqual([
    'AGENT_ID_TAKEN this program',
    'CONFIG_KEY_INVALID this program',
    'CONFIG_KEY_INVALID this program',
  ]);
});

it('gives such an agent over MCP its scope in tools, resources, prompts and instructions, and no proposals', async () => {
  const agents = { cook: { tags: { team: ['kitchen'] }, proposes: false } };
  const mcp = { turn: { agentId: 'cook' } };
  const { registry, serving } = await serveRegistry(TREE, { config: { sources: SOURCES, agents }, mcp });
  const client = await httpClient(serving.url);
  const answers = JSON.stringify([
    await callTool(client, 'list_skills', {}),
    await callTool(client, 'list_skills', { query: 'salt bread tea' }),
    await client.listResources(),
    await client.listPrompts(),
    client.getInstructions(),
  ]);
  expect(answers).toContain('rye');
  expect(answers).not.toMatch(/About (tea|kettle|bread|salt)|Bread of/);
  await expect(client.readResource({ uri: 'skill://tea/SKILL.md' })).rejects.toThrow();
  await expect(client.getPrompt({ name: 'tea' })).rejects.toThrow();
  expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('propose_skill_update');
  const [propose] = registry.tools(['propose_skill_update']);
  const change = { skill_id: 'rye', old_string: 'Body', new_string: 'Text', justification: 'It is text.' };
  const call = { turn: { agentId: 'cook' }, signal: new AbortController().signal };
  expect(await runTool(propose as never, change, call)).toMatchObject({ error: { code: 'WRITE_DENIED' } });
});
