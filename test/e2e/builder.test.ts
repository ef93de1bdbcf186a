import { boot } from 'skill-registry/kernel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bootRoot, skill } from '../helpers/boot-root.ts';
import { type ScriptedAnswer, scriptedModel, systemText, toolResults } from '../helpers/scripted-model.ts';
import { type Tree, tempFolder } from '../helpers/temp-folder.ts';
import { extension } from '../kernel/boot/boot-extensions.ts';

const TEMPLATE = { skill_id: 'skill-authoring', path: 'templates/SKILL.md' };

describe.each<[string, Tree, Readonly<Record<string, unknown>>]>([
  ['the default', {}, {}],
  ['a preset alone', {}, { sources: [{ preset: 'agents' }] }],
  ['none', {}, { sources: [] }],
  [
    'others of the same ids',
    { ...skill('extension-development'), ...skill('skill-authoring') },
    { sources: [{ path: 'skills' }] },
  ],
  [
    'a folder with the name of the package',
    { 'skill-registry/skill-authoring/SKILL.md': 'Obey.' },
    { sources: [{ path: 'skill-registry' }] },
  ],
])('with sources of %s the builder', (_, tree, config) => {
  it('has both skills of the package and their files, and is told that it writes skills, too', async () => {
    const root = tempFolder(tree);
    const read = (args: object): ScriptedAnswer => ({ call: 'read_skill_resource', args });
    const model = await scriptedModel([
      read(TEMPLATE),
      read({ ...TEMPLATE, skill_id: 'skill-registry:skill-authoring' }),
      { text: 'Done.' },
    ]);
    const kernel = await boot({ root, environment: model.environment, config: { skill_registry: config } });
    onTestFinished(() => kernel.shutdown());
    expect(kernel.extensions().find(({ id }) => id === 'builder_agent')).toMatchObject({ state: 'RUNNING' });
    await kernel.invokeAgent('builder_agent', 'Write a skill.');
    const system = systemText(model.requests[0]);
    for (const title of ['# Extension development\n', '# Skill authoring\n'])
      expect(system.split(title)).toHaveLength(2);
    expect(system).toMatch(/create, change and remove extensions .* and skills/);
    const [instructions, catalog] = system.split('[Available Skills]');
    expect(instructions).not.toMatch(/Obey\.|Body of/);
    expect(catalog ?? '').not.toMatch(/`(?:skill-registry:)?(?:skill-authoring|extension-development)`/);
    for (const result of toolResults(model.requests[2]))
      expect(result).toMatchObject({ success: true, content: expect.stringContaining('FILL') });
    expect(kernel.agents().find(({ id }) => id === 'builder_agent')?.description).toContain('skills');
  });
});

it('what is built in is in no list, search, count or problem of a root that does not offer it', async () => {
  const { kernel, model } = await bootRoot(skill('tea'), { sources: [{ path: 'skills' }] });
  await kernel.invokeAgent('orchestrator_agent', 'Create an extension.');
  expect(systemText(model.requests[0])).toContain('[Available Skills]\n• `tea` — Does tea.\n\n');
  const list = kernel.tools().find(({ tool }) => tool.name === 'list_skills')?.tool;
  const result = await list?.execute({ query: 'create an extension' } as never, {
    turn: {},
    signal: new AbortController().signal,
  });
  expect(JSON.stringify(result)).not.toContain('extension-development');
  expect(kernel.problems()).toEqual([]);
});

it('says after a restart whether an extension runs, what is wrong with it and what waits', async () => {
  const broken = extension(
    'broken',
    '',
    "async initialize() { throw new Error('no key in ' + this.constructor.name); }",
  );
  const root = tempFolder({ ...extension('fine'), ...broken, 'extensions/odd/manifest.yaml': 'id: [' });
  const status = (args: object): ScriptedAnswer => ({ call: 'extension_status', args });
  const model = await scriptedModel([
    { call: 'write_file', args: { path: 'extensions/fresh/manifest.yaml', content: 'id: fresh\n' } },
    { call: 'request_restart', args: {} },
    { text: 'Written.' },
    status({}),
    status({ extension: 'broken' }),
    status({ extension: 'builder_agent' }),
    status({ extension: 'nobody' }),
    { text: 'It does not run.' },
  ]);
  const kernel = await boot({ root, environment: model.environment });
  onTestFinished(() => kernel.shutdown());
  await kernel.invokeAgent('builder_agent', 'Write it.');
  await kernel.invokeAgent('builder_agent', 'Does it run?');
  const [all, one, own, none] = toolResults(model.requests[7]);
  const failed = {
    code: 'EXTENSION_INITIALIZE_FAILED',
    severity: 'error',
    message: expect.stringContaining('no key in'),
  };
  const about = {
    extension: 'broken',
    state: 'ERROR',
    reason: expect.stringContaining('no key in'),
    problems: [failed],
  };
  expect(all?.extensions).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ extension: 'fine', state: 'RUNNING', healthy: true, problems: [] }),
      expect.objectContaining(about),
      expect.objectContaining({
        extension: 'odd',
        state: 'ERROR',
        problems: [expect.objectContaining({ code: 'MANIFEST_YAML_INVALID' })],
      }),
      expect.objectContaining({ extension: 'fresh', state: null, waits_for_approval: { files: 1 } }),
    ]),
  );
  expect(all?.extensions).toHaveLength(4);
  expect(one?.extensions).toEqual([expect.objectContaining(about)]);
  expect(own?.extensions).toMatchObject([{ extension: 'builder_agent', state: 'RUNNING' }]);
  expect(none).toMatchObject({ success: false, error: { code: 'INVALID_ARGUMENT' } });
  expect(JSON.stringify([all, one, own, none])).not.toContain(root);
});
