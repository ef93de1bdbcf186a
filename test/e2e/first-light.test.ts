import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { boot } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { packageRoot } from '../../kernel/host.ts';
import { delimited } from '../../lib/text/index.ts';
import { scriptedModel, systemText, toolResults } from '../helpers/scripted-model.ts';
import { skillMd, type Tree, tempFolder, writeTree } from '../helpers/temp-folder.ts';
import { extension } from '../kernel/boot/boot-extensions.ts';

async function bootWith(root: string, environment: Readonly<Record<string, string>>) {
  const kernel = await boot({ root, environment });
  onTestFinished(() => kernel.shutdown());
  return kernel;
}

it('teaches an agent what exists, then the instructions, then a file, over the wire', async () => {
  const root = tempFolder({
    'skills/tea/SKILL.md': skillMd(
      { description: 'How to brew tea. Use when somebody is thirsty.' },
      '# Tea\n\nSee references/times.md.',
    ),
    'skills/tea/references/times.md': 'Green: 2 minutes.\n',
  });
  const model = await scriptedModel([
    { call: 'read_skill', args: { skill_id: 'tea' } },
    { call: 'read_skill_resource', args: { skill_id: 'tea', path: 'references/times.md' } },
    { text: 'Two minutes.' },
  ]);
  const kernel = await bootWith(root, model.environment);
  const streamed: string[] = [];
  const response = await kernel.invokeAgent('orchestrator_agent', 'How long for green tea?', {
    onText: (delta) => void streamed.push(delta),
  });

  expect(response).toMatchObject({ text: 'Two minutes.', stopped: 'done' });
  expect(streamed.length).toBeGreaterThan(1);
  expect(streamed.join('')).toBe('Two minutes.');

  const [first, second, third] = model.requests;
  expect(model.requests).toHaveLength(3);
  expect(systemText(first)).toContain(
    '[Available Skills]\n• `tea` — How to brew tea. Use when somebody is thirsty.\n\nUse read_skill(skill_id) to load full instructions.',
  );
  expect(first?.messages.filter((message) => message.role === 'system')).toHaveLength(1);
  expect(first?.tools?.map((tool) => tool.function.name)).toEqual(
    expect.arrayContaining(['list_skills', 'read_skill', 'read_skill_resource', 'builder_agent']),
  );
  expect(JSON.stringify(first?.tools)).not.toContain('tea');
  expect(toolResults(second)[0]).toMatchObject({
    success: true,
    skill_id: 'tea',
    content: '# Tea\n\nSee references/times.md.',
    message: expect.stringMatching(/^Skill loaded: tea \(approx\. \d+ tokens\)$/),
    allowed_tools: [],
    directory: realpathSync(join(root, 'skills/tea')),
    resources: [{ path: 'references/times.md', size: 18 }],
  });
  expect(toolResults(third)[1]).toMatchObject({
    success: true,
    content: 'Green: 2 minutes.\n',
    encoding: 'utf-8',
    size: 18,
  });
});

it('answers a model that asks for what does not exist with a code and the nearest ids', async () => {
  const root = tempFolder({ 'skills/brew-tea/SKILL.md': skillMd({ description: 'How to brew tea.' }) });
  const model = await scriptedModel([{ call: 'read_skill', args: { skill_id: 'brew-te' } }, { text: 'Sorry.' }]);
  const kernel = await bootWith(root, model.environment);
  await kernel.invokeAgent('orchestrator_agent', 'tea');
  const [result] = toolResults(model.requests[1]);
  expect(result).toMatchObject({ success: false, error: { code: 'SKILL_NOT_FOUND' } });
  expect(JSON.stringify(result)).toContain('brew-tea');
});

/** A channel at whose other end somebody answers questions. @param answer - Statements that may use `question`. */
function personWho(answer: string): Tree {
  const members = `async sendMessage() {} async sendToUser() {} async confirm(question) { ${answer} }`;
  return extension('person', '', members);
}

/** A model that builds the extension the way the bound skill says. */
const RSS_MAIN = `
import { defineTool, type Extension, type Tool, type ToolProvider, z } from 'skill-registry/kernel';
export class RssMonitor implements Extension, ToolProvider {
  async initialize() {}
  async start() {}
  async stop() {}
  async destroy() {}
  healthCheck() { return true; }
  getTools(): readonly Tool[] {
    return [defineTool({
      name: 'rss_latest', description: 'The latest items of a feed.', input: z.object({ url: z.string() }),
      execute: async ({ url }) => ({ success: true, items: ['news of ' + url] }),
    })];
  }
}
`;
const RSS_MANIFEST =
  'id: rss_monitor\nname: RSS\nversion: 1.0.0\nentrypoint: main:RssMonitor\ndescription: Watches feeds.\n';

it('builds an extension through the builder agent and offers its tool after the restart', async () => {
  const root = tempFolder(personWho('return true;'));
  const template = 'templates/tool-provider/main.ts';
  const model = await scriptedModel([
    { call: 'builder_agent', args: { task: 'Create an extension that monitors RSS feeds.' } },
    { call: 'read_skill_resource', args: { skill_id: 'extension-development', path: template } },
    { call: 'write_file', args: { path: 'extensions/rss_monitor/manifest.yaml', content: RSS_MANIFEST } },
    { call: 'write_file', args: { path: 'extensions/rss_monitor/main.ts', content: RSS_MAIN } },
    { call: 'request_restart', args: {} },
    { text: 'Written: extensions/rss_monitor.' },
    { text: 'The extension is there.' },
    { call: 'rss_latest', args: { url: 'https://example.org/feed' } },
    { text: 'news' },
  ]);
  const kernel = await bootWith(root, model.environment);
  await kernel.invokeAgent('orchestrator_agent', 'Create an extension that monitors RSS feeds');

  const builderFirst = model.requests[1];
  const system = systemText(builderFirst);
  const bound = '# Extension development';
  expect(system.split('[Skill: skill-registry:extension-development | ')).toHaveLength(2);
  expect(system.toLowerCase()).toContain(bound.toLowerCase());
  expect(system.indexOf('You are the Builder')).toBeLessThan(
    system.indexOf('[Skill: skill-registry:extension-development | '),
  );
  // What stands there in full is not listed again; the others are.
  expect(system).not.toMatch(/`(?:[a-z-]+:)?(?:extension-development|skill-authoring)`/);
  expect(system).toContain('`code-review`');
  expect(builderFirst?.tools?.map((tool) => tool.function.name)).not.toContain('rss_latest');
  expect(toolResults(model.requests[2])[0]).toMatchObject({ success: true, path: template });
  expect(toolResults(model.requests[5])).toEqual([
    expect.objectContaining({ success: true }),
    expect.objectContaining({ success: true, created: true, held: true }),
    expect.objectContaining({ success: true, created: true, held: true }),
    expect.objectContaining({ success: true, held: [{ extension: 'rss_monitor', files: 2 }] }),
  ]);

  const response = await kernel.invokeAgent('orchestrator_agent', 'What is new?');
  const afterRestart = model.requests[7];
  expect(afterRestart?.tools?.map((tool) => tool.function.name)).toContain('rss_latest');
  expect(toolResults(model.requests[8])[0]).toEqual({ success: true, items: ['news of https://example.org/feed'] });
  expect(response.text).toBe('news');
  expect(kernel.extensions().find((extension) => extension.id === 'rss_monitor')?.dir).toBe(
    join(root, 'extensions/rss_monitor'),
  );
});

it('gives the builder agent no body when its manifest binds no skill', async () => {
  const manifest = [
    'id: builder_agent',
    'name: Extension Builder',
    'version: 9.9.9',
    'description: The same agent without uses_skills.',
    'depends_on: [skill_registry]',
    'agent: { integration_mode: tool, uses_tools: [skill_registry] }',
  ].join('\n');
  const root = tempFolder({
    'extensions/builder_agent/manifest.yaml': manifest,
    'extensions/builder_agent/prompt.md': 'You build.',
  });
  const model = await scriptedModel([{ text: 'ok' }]);
  const kernel = await bootWith(root, model.environment);
  await kernel.invokeAgent('builder_agent', 'Build something.');
  expect(systemText(model.requests[0])).not.toContain('[Skill: ');
  expect(systemText(model.requests[0])).toContain('You build.');
  expect(kernel.problems().map((problem) => problem.code)).toEqual(['EXTENSION_OVERRIDES_BUILT_IN']);
});

it('carries the new body of a bound skill in the next invocation after an edit', async () => {
  const root = tempFolder({
    'skills/law/SKILL.md': skillMd({ description: 'The law.' }, 'First version.'),
    'extensions/judge/manifest.yaml':
      'id: judge\nname: Judge\nversion: 1.0.0\ndepends_on: [skill_registry]\nagent: { uses_skills: [law] }\n',
  });
  const model = await scriptedModel([{ text: 'a' }, { text: 'b' }]);
  const kernel = await bootWith(root, model.environment);
  await kernel.invokeAgent('judge', 'Judge.');
  writeTree(root, { 'skills/law/SKILL.md': skillMd({ description: 'The law.' }, 'Second version.') });
  await kernel.invokeAgent('judge', 'Judge.');
  expect(systemText(model.requests[0])).toContain(delimited('Skill: law', 'First version.'));
  expect(systemText(model.requests[1])).toContain(delimited('Skill: law', 'Second version.'));
  expect(systemText(model.requests[1])).not.toContain('First version.');
});

it('finds the package when it is asked where it lies', () => {
  expect(packageRoot()).toBe(join(import.meta.dirname, '..', '..'));
});
