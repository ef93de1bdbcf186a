import { boot } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { type ScriptedAnswer, scriptedModel, toolResults } from '../helpers/scripted-model.ts';
import { skillMd, tempFolder } from '../helpers/temp-folder.ts';
import { extension } from '../kernel/boot/boot-extensions.ts';

const WRITER = `getTools() {
  return [defineTool({
    name: 'learn', description: 'Writes a skill.', input: z.object({}),
    execute: async () => {
      const { mkdirSync, writeFileSync } = await import('node:fs');
      mkdirSync(this.context.rootDir + '/skills/learnt', { recursive: true });
      writeFileSync(this.context.rootDir + '/skills/learnt/notes.md', 'Notes.');
      writeFileSync(this.context.rootDir + '/skills/learnt/SKILL.md', ${JSON.stringify(skillMd({ name: 'learnt', description: 'Folds a zebra.' }))});
      return { success: true };
    },
  })];
}`;

it.each<[string, ScriptedAnswer, object]>([
  ['list_skills', { call: 'list_skills', args: { limit: 1 } }, { skills: [{ skill_id: 'learnt' }], total: 2 }],
  ['list_skills with a query', { call: 'list_skills', args: { query: 'zebra' } }, { skills: [{ skill_id: 'learnt' }] }],
  ['read_skill', { call: 'read_skill', args: { skill_id: 'learnt' } }, { content: 'Do it well.' }],
  [
    'read_skill_resource',
    { call: 'read_skill_resource', args: { skill_id: 'learnt', path: 'notes.md' } },
    { content: 'Notes.' },
  ],
  ['load_skill', { call: 'load_skill', args: { name: 'learnt' } }, { body: 'Do it well.' }],
  ['skill', { call: 'skill', args: { action: 'view', name: 'learnt' } }, { skill_id: 'learnt' }],
  [
    'propose_skill_update',
    {
      call: 'propose_skill_update',
      args: { skill_id: 'learnt', path: 'notes.md', content: 'More.', justification: 'Grown.' },
    },
    { state: 'open' },
  ],
])('what another extension wrote is found in the same turn by %s', async (_, call, found) => {
  const root = tempFolder({
    ...extension('writer', '', WRITER),
    'skills/tea/SKILL.md': skillMd({ description: 'Tea.' }),
  });
  const model = await scriptedModel([{ call: 'learn', args: {} }, call, { text: 'Done.' }]);
  const tools = ['list_skills', 'read_skill', 'read_skill_resource', 'load_skill', 'skill', 'propose_skill_update'];
  const config = { skill_registry: { sources: [{ path: 'skills' }], watch: { mode: 'off' }, tools } };
  const kernel = await boot({ root, environment: model.environment, config });
  onTestFinished(() => kernel.shutdown());
  await kernel.invokeAgent('orchestrator_agent', 'Learn it.');
  const [learnt, result] = toolResults(model.requests[2]);
  expect(learnt).toEqual({ success: true });
  expect(result).toMatchObject({ success: true, ...found });
});
