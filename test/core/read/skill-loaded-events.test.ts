import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bootRoot, skill } from '../../helpers/boot-root.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { runRegistryTool } from '../../helpers/run-registry-tool.ts';
import { skillMd, type Tree } from '../../helpers/temp-folder.ts';
import { NO_TERMINAL } from '../../skills/templates.ts';

const tree: Tree = {
  'skills/a/SKILL.md': skillMd({ name: 'a', description: 'd' }),
  'skills/a/notes.md': 'Notes.',
  'skills/b/SKILL.md': skillMd({ name: 'b', description: 'd' }),
  'skills/hidden/SKILL.md': skillMd({ name: 'hidden', description: 'd', 'disable-model-invocation': 'true' }),
};

const success = { source: 'skills', outcome: 'success', error: null };
const refused = { source: 'skills', outcome: 'refused' };
const failure = { source: 'skills', outcome: 'failure' };
const agent = { agentId: 'builder', boundSkills: ['a', 'hidden'] };

it.each([
  ['a body', { skill_id: 'a' }, {}, { ...success, agentId: null }],
  ['a body for an agent', { skill_id: 'a' }, agent, { ...success, agentId: 'builder' }],
  ['a file', { skill_id: 'a', path: 'notes.md' }, agent, { ...success, agentId: 'builder', path: 'notes.md' }],
  ['an id that is not there', { skill_id: 'x' }, {}, { source: null, outcome: 'failure', error: 'SKILL_NOT_FOUND' }],
  ['an id out of scope', { skill_id: 'b' }, agent, { ...refused, error: 'SKILL_OUT_OF_SCOPE' }],
  ['a file out of scope', { skill_id: 'b', path: 'x' }, agent, { ...refused, error: 'SKILL_OUT_OF_SCOPE', path: 'x' }],
  [
    'a skill for people only',
    { skill_id: 'hidden' },
    { agentId: 'builder' },
    { ...refused, error: 'SKILL_NOT_MODEL_INVOCABLE' },
  ],
  [
    'a file that is not there',
    { skill_id: 'a', path: 'x' },
    {},
    { ...failure, error: 'RESOURCE_NOT_FOUND', path: 'x' },
  ],
  ['a path that leaves', { skill_id: 'a', path: '../b' }, {}, { ...failure, error: 'PATH_TRAVERSAL', path: '../b' }],
])('one event tells of a model asking for %s', async (_, args, turn, event) => {
  const { registry, loaded } = await openRegistry(tree);
  const began = performance.now();
  await runRegistryTool(registry, 'path' in args ? 'read_skill_resource' : 'read_skill', args, turn);
  const seconds = (performance.now() - began) / 1000;
  const common = {
    event: 'skill_loaded',
    skillId: args.skill_id,
    audience: 'model',
    durationSeconds: expect.any(Number),
  };
  expect(loaded).toEqual([{ agentId: 'agentId' in turn ? 'builder' : null, ...common, ...event }]);
  expect(loaded[0]?.durationSeconds).toBeGreaterThanOrEqual(0);
  expect(loaded[0]?.durationSeconds).toBeLessThanOrEqual(seconds);
});

it.each(['person', 'binding'] as const)('one event tells of a load for a %s, whom no scope holds', async (audience) => {
  const { registry, loaded } = await openRegistry(tree);
  await registry.read('hidden', { audience }, { ...agent, boundSkills: [] });
  expect(loaded).toMatchObject([{ skillId: 'hidden', outcome: 'success', audience, agentId: 'builder' }]);
});

it('a load without a turn is a person, with one a model', async () => {
  const { registry, loaded } = await openRegistry(tree);
  await registry.read('a');
  await registry.read('a', {}, {});
  await registry.readResource('a', 'notes.md');
  await registry.readResource('a', 'notes.md', {});
  expect(loaded.map(({ audience }) => audience)).toEqual(['person', 'model', 'person', 'model']);
});

it('a file that has gone since the last refresh is a failure', async () => {
  const { root, registry, loaded } = await openRegistry(tree);
  rmSync(join(root, 'skills/a'), { recursive: true });
  await runRegistryTool(registry, 'read_skill', { skill_id: 'a' });
  expect(loaded).toMatchObject([{ outcome: 'failure', error: 'RESOURCE_NOT_FOUND', source: 'skills' }]);
});

it('neither arguments that are refused nor lists and texts of the catalog make events', async () => {
  const { registry, loaded } = await openRegistry(tree);
  await runRegistryTool(registry, 'read_skill', { skill: 'a' });
  await runRegistryTool(registry, 'list_skills', { query: 'a' });
  await registry.context('a');
  expect(loaded).toEqual([]);
});

it('the event of the bus says the same in snake_case', async () => {
  const main = `
    export class Ear {
      async initialize(context) {
        context.events.subscribe('skill_loaded', (event) => context.notifyUser(JSON.stringify(event)));
      }
      async start() {} async stop() {} async destroy() {} healthCheck() { return true; }
    }`;
  const { kernel } = await bootRoot({
    ...NO_TERMINAL,
    ...skill('a'),
    'extensions/ear/manifest.yaml': 'id: ear\nname: ear\nversion: 1.0.0\nentrypoint: main:Ear\n',
    'extensions/ear/main.ts': main,
  });
  const applied = await kernel.runCommand('/skills:a now', {});
  // As a channel does when the agent has the text.
  if (applied?.kind === 'send') applied.settled?.(true);
  const heard = kernel.undelivered().find((line) => line.includes('"skill_id":"a"')) ?? '';
  expect(JSON.parse(heard.slice(heard.indexOf('{')))).toEqual({
    ...{ event: 'skill_loaded', skill_id: 'a', source: 'skills', outcome: 'success', audience: 'person' },
    ...{ agent_id: null, error: null, duration_s: expect.any(Number), name: 'a', reference: null, script: null },
  });
});
