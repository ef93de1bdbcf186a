import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SkillLoadedEvent } from 'skill-registry';
import { boot, type Kernel } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { agent, bootRoot, skill } from '../../helpers/boot-root.ts';
import { attack, heldSkill, untilHeld } from '../../helpers/held.ts';
import { httpClient, serveRegistry } from '../../helpers/mcp.ts';
import { openRegistry, openRoot } from '../../helpers/open-registry.ts';
import { type ScriptedAnswer, scriptedModel } from '../../helpers/scripted-model.ts';
import { skillMd, type Tree, tempFolder } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';

const CALLS: readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[] = [
  ['list_skills', {}],
  ['list_skills', { query: 'brews mixer' }],
  ['read_skill', { skill_id: 'mixer' }],
  ['read_skill', { skill_id: 'skills:mixer', view: 'raw' }],
  ['read_skill_resource', { skill_id: 'mixer', path: 'references/more.md' }],
  ['load_skill', { name: 'mixer' }],
  ['skill', { action: 'view', name: 'mixer' }],
  ['skill', { action: 'list', name: 'mixer' }],
  ['read_file', { path: 'skills/mixer/SKILL.md' }],
  ['read_file', { path: 'skills/mixer/references/more.md' }],
  ['list_files', { path: 'skills/mixer' }],
  ['propose_skill_update', { skill_id: 'mixer', old_string: 'body', new_string: 'x', justification: 'y' }],
];
/** Roles of messages that are not the model's own words. */
const TOLD: ReadonlySet<string> = new Set(['system', 'tool']);
const TOOLS = ['list_skills', 'read_skill', 'read_skill_resource', 'load_skill', 'skill', 'propose_skill_update'];

interface Sent {
  readonly kernel: Kernel;
  /** Everything the model was sent in a conversation in which it tried every tool. */
  readonly all: string;
}

const slash = (kernel: Kernel) => kernel.runCommand('/skills:mixer', { agentId: 'helper', threadId: 't' });

/** Boots a root, waits until `mixer` is held, and lets a model try all it has. */
async function sentTo(tree: Tree, config: Readonly<Record<string, unknown>> = {}): Promise<Sent> {
  const root = tempFolder({
    ...skill('tea'),
    ...heldSkill('mixer', 1),
    ...agent(
      'helper',
      'instructions: Help., uses_tools: [skill_registry, workspace_files], model: m, limits: { max_turns: 20 }',
    ),
    ...tree,
  });
  const model = await scriptedModel((_, index): ScriptedAnswer => {
    const call = CALLS[index];
    return call ? { call: call[0], args: call[1] } : { text: 'Done.' };
  });
  const kernel = await boot({
    root,
    environment: model.environment,
    config: { skill_registry: { sources: [{ path: 'skills' }], tools: TOOLS, ...config } },
  });
  onTestFinished(() => kernel.shutdown());
  // The command is for a person, who is told why it sends nothing.
  await waitFor('the skill to be held', async () => (await slash(kernel)).kind === 'print');
  await kernel.invokeAgent('helper', 'Brew mixer.');
  return {
    kernel,
    all: JSON.stringify(model.requests.map(({ messages }) => messages.filter(({ role }) => TOLD.has(role)))),
  };
}

it.each([
  ['in the catalog', {}],
  ['in the catalog as XML', { catalog: { format: 'xml' } }],
  ['where bodies are injected', { inject: 'bodies' }],
  ['where it is preloaded', { sources: [{ path: 'skills', preload: true }] }],
])('is at no door of an agent %s, and the others are', async (_, config) => {
  const { all } = await sentTo({}, config);
  expect(all.includes('Does tea.')).toBe(true);
  expect(/.{0,80}(?:MARKED|203\.0\.113).{0,80}/.exec(all)?.[0]).toBeUndefined();
});

it('is not sent by its slash command, which says why and what to do', async () => {
  const { kernel } = await sentTo({});
  const listed = [await kernel.runCommand('/skills', {}), await kernel.runCommand('/skills brews mixer', {})];
  expect(listed.map((one) => /mixer.*\(held: \S+/.test('text' in one ? one.text : ''))).toEqual([true, true]);
  expect(await slash(kernel)).toMatchObject({
    kind: 'print',
    text: expect.stringMatching(/"mixer" is held.*approvals show mixer/),
  });
});

it('is not in the instructions of the agent that is bound to it, which does not run', async () => {
  const root = tempFolder({
    ...heldSkill('mixer', 2),
    ...agent('bound', 'instructions: Help., uses_skills: [mixer], model: m'),
  });
  const model = await scriptedModel(() => ({ text: 'Done.' }));
  const kernel = await boot({ root, environment: model.environment });
  onTestFinished(() => kernel.shutdown());
  // At once: what no inspection has seen is inspected before it becomes an instruction.
  await expect(kernel.invokeAgent('bound', 'Go.')).rejects.toThrow(/mixer/);
  expect(model.requests).toEqual([]);
});

it('is not in the instructions of an agent when an attack was written beside its SKILL.md meanwhile', async () => {
  const block = 'instructions: Help., uses_skills: [mixer], model: m';
  const tree = { ...skill('mixer'), 'skills/mixer/references/more.md': 'More.', ...agent('bound', block) };
  const { root, kernel, model } = await bootRoot(tree, { watch: { mode: 'off' } });
  writeFileSync(join(root, 'skills/mixer/references/more.md'), attack(7));
  await expect(kernel.invokeAgent('bound', 'Go.')).rejects.toThrow(
    /^Agent "bound" failed: SKILL_HELD: "mixer" is held, .* says why\.$/,
  );
  expect(model.requests).toEqual([]);
});

it('is at no door of the first answers, when no inspection has seen it yet', async () => {
  const root = tempFolder({
    ...skill('tea'),
    ...heldSkill('mixer', 3),
    ...agent('helper', 'instructions: Help., uses_tools: [skill_registry], model: m'),
  });
  const model = await scriptedModel(
    (_, index): ScriptedAnswer => (index === 0 ? { call: 'list_skills', args: {} } : { text: 'Done.' }),
  );
  const kernel = await boot({ root, environment: model.environment });
  onTestFinished(() => kernel.shutdown());
  await kernel.invokeAgent('helper', 'Go.');
  const sent = JSON.stringify(model.requests);
  expect(sent).toContain('Does tea.');
  expect(sent).not.toMatch(/MARKED|mixer/);
});

it('is in none of the first lists over MCP, when no inspection has seen it yet', async () => {
  const { serving } = await serveRegistry({ ...skill('tea'), ...heldSkill('mixer', 31) });
  const client = await httpClient(serving.url);
  const answers = JSON.stringify([client.getInstructions(), await client.listPrompts(), await client.listResources()]);
  expect(answers).toContain('tea');
  expect(answers).not.toMatch(/MARKED|mixer/);
});

it('is kept from agents as long as nothing has inspected it, and given when that found nothing', async () => {
  const root = tempFolder({ ...skill('tea'), ...heldSkill('mixer', 32) });
  const loaded: SkillLoadedEvent[] = [];
  const registry = await openRoot(root, { inspect: false, onSkillLoaded: (event) => loaded.push(event) });
  expect(registry.visible()).toEqual([]);
  expect(registry.admin.notInspected()).toBe(2);
  await expect(registry.read('mixer', {}, {})).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  expect((await registry.read('tea', {}, {})).content).toContain('tea');
  expect(loaded.map(({ error }) => error)).toEqual(['SKILL_HELD', null]);
  expect((await registry.read('mixer')).content).toContain('MARKED');
  await registry.admin.inspectSkills();
  expect(registry.visible().map(({ id }) => id)).toEqual(['tea']);
  expect(registry.problems().map(({ code }) => code)).toEqual(['SKILL_HELD']);
});

it('is in no answer over MCP: tools, resources, prompts, instructions', async () => {
  const { registry, serving } = await serveRegistry({ ...skill('tea'), ...heldSkill('mixer', 4) });
  await registry.admin.inspectSkills();
  await untilHeld(registry, 'mixer');
  const client = await httpClient(serving.url);
  const resource = (uri: string) => client.readResource({ uri }).catch(String);
  const prompt = (name: string) => client.getPrompt({ name }).catch(String);
  const answers = JSON.stringify([
    client.getInstructions(),
    await client.listTools(),
    await client.listPrompts(),
    await client.listResources(),
    await prompt('mixer'),
    await resource('skill://mixer/SKILL.md'),
    await resource('skill://mixer/references/more.md'),
    await client.callTool({ name: 'list_skills', arguments: {} }),
    await client.callTool({ name: 'read_skill', arguments: { skill_id: 'mixer' } }),
  ]);
  expect(answers).toContain('Does tea.');
  expect(answers).not.toMatch(/MARKED|203\.0\.113/);
});

it('is in no role prompt and no search, and a role of its name is as one without a skill', async () => {
  const { registry } = await openRegistry({ ...skill('tea'), ...heldSkill('mixer', 5) });
  await registry.admin.inspectSkills();
  expect((await registry.admin.resolveRolePrompt('tea')).text).not.toContain('mixer');
  expect(await registry.admin.resolveRolePrompt('mixer')).toMatchObject({ source: 'fallback' });
  await registry.admin.prepareSearch();
  expect(registry.list({ query: 'MARKED mixer' }, {}).skills).toEqual([]);
  expect(registry.list({ query: 'MARKED mixer', audience: 'person' }).skills).toMatchObject([{ skillId: 'mixer' }]);
  expect(await registry.context('MARKED mixer')).not.toContain('mixer');
  await expect(registry.apply('mixer', '')).rejects.toMatchObject({ code: 'SKILL_HELD' });
});

it('is what somebody writes into a skill that was clean, before its next reader sees it', async () => {
  const { root, registry } = await openRegistry(skill('tea'));
  await registry.read('tea', {}, {});
  const file = join(root, 'skills/tea/references/new.md');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `MARKED ${attack(6)}`);
  await expect(registry.readResource('tea', 'references/new.md', {})).rejects.toMatchObject({
    code: 'SKILL_NOT_FOUND',
  });
  rmSync(file);
  expect((await registry.read('tea', {}, {})).content).toContain('Body of tea.');
  writeFileSync(join(root, 'skills/tea/SKILL.md'), skillMd({ name: 'tea', description: 'Tea.' }, attack(6)));
  await registry.refresh();
  expect(registry.visible()).toEqual([]);
});
