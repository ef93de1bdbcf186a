import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { boot, type Kernel } from 'skill-registry/kernel';
import { expect, it, onTestFinished } from 'vitest';
import { scriptedModel, toolResults } from '../../../helpers/scripted-model.ts';
import { skillMd, type Tree, tempFolder } from '../../../helpers/temp-folder.ts';
import { waitFor } from '../../../helpers/wait-for.ts';
import { entrypoint, extension, manifest } from '../../../kernel/boot/boot-extensions.ts';

/** Whether the file a piece of code would write is there. */
const ran = (root: string): boolean => existsSync(join(root, 'ran'));
const mark = (root: string): string =>
  `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(join(root, 'ran'))}, '');`;

async function start(root: string, options: Partial<Parameters<typeof boot>[0]> = {}): Promise<Kernel> {
  const kernel = await boot({ root, ...options });
  onTestFinished(() => kernel.shutdown());
  return kernel;
}

const stateOf = (kernel: Kernel, id: string) => kernel.extensions().find((one) => one.id === id)?.state;

it('runs nothing of a root that was not approved, reads its .env and settings not, and says what is held', async () => {
  const root = tempFolder({
    '.env': 'SKILL_MCP_TOKEN=of-the-root\n',
    'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brew tea.' }),
    ...extension('evil', '', `async initialize() { await import('node:fs'); }`),
    'extensions/skill_reviewer/manifest.yaml': manifest('skill_reviewer', 'entrypoint: main:Main'),
    'extensions/skill_reviewer/main.js': entrypoint(),
    'data/skill_reviewer/config.yaml': 'decide: true\n',
    'data/cli_channel/config.yaml': 'agent: evil\n',
  });
  const kernel = await start(root, { trust: false });
  expect(stateOf(kernel, 'evil')).toBeUndefined();
  expect(stateOf(kernel, 'skill_reviewer')).toBe('RUNNING');
  expect(kernel.extensions().find(({ id }) => id === 'skill_reviewer')?.dir).not.toContain(root);
  const [held, ...others] = kernel.problems();
  expect(others).toEqual([]);
  expect(held).toMatchObject({ code: 'ROOT_NOT_APPROVED', severity: 'warning', file: root });
  for (const part of ['evil, skill_reviewer', '.env', 'data/skill_reviewer/config.yaml', `approvals allow ${root}`])
    expect(held?.message).toContain(part);
  expect(kernel.tools().map(({ tool }) => tool.name)).toContain('read_skill');
});

it('sends nothing to the model that the .env of a root names before the root was approved', async () => {
  const model = await scriptedModel([{ text: 'Hello.' }]);
  const lines = Object.entries(model.environment).map(([name, value]) => `${name}=${value}\n`);
  const root = tempFolder({ '.env': lines.join('') });
  const kernel = await start(root, { trust: false });
  await expect(kernel.invokeAgent('orchestrator_agent', 'hello')).rejects.toMatchObject({
    code: 'MODEL_NOT_CONFIGURED',
  });
  expect(model.requests).toEqual([]);
  const approved = await start(root, { trust: true });
  expect(await approved.invokeAgent('orchestrator_agent', 'hello')).toMatchObject({ text: 'Hello.' });
});

it('gives the .env and the settings of a root to extensions when it was approved', async () => {
  const seen = `[this.context.config.level, this.context.getSecret('SECRET_OF_ROOT'), this.context.trusted].join(' ')`;
  const command = `{ name: 'seen', description: '', execute: async () => ({ kind: 'print', text: ${seen} }) }`;
  const root = tempFolder({
    '.env': 'SECRET_OF_ROOT=x\n',
    'data/watcher/config.yaml': 'level: high\n',
    ...extension('watcher', 'config: { level: low }', `getCommands() { return [${command}]; }`),
  });
  const kernel = await start(root);
  expect(await kernel.runCommand('/seen', {})).toEqual({ kind: 'print', text: 'high x true' });
});

it('takes folders below the root and keys that show less from the settings of a root that was not approved', async () => {
  const root = tempFolder({
    'mine/tea/SKILL.md': skillMd({ name: 'tea', description: 'Brew tea.' }),
    'skills/other/SKILL.md': skillMd({ name: 'other', description: 'Not a source here.' }),
    'data/skill_registry/config.yaml':
      'sources: [{ path: mine }, { package: evil }]\ninject: "off"\nwrites: { update: allow }\n',
  });
  const model = await scriptedModel([{ call: 'list_skills', args: {} }, { text: 'ok' }]);
  const kernel = await start(root, { trust: false, environment: model.environment });
  await kernel.invokeAgent('orchestrator_agent', 'hello');
  expect(toolResults(model.requests[1])[0]).toMatchObject({ skills: [{ skill_id: 'tea' }], total: 1 });
  expect(JSON.stringify(model.requests[0])).not.toContain('[Available Skills]');
});

/** The agent writes an extension that leaves a file when it is loaded, and asks for a restart. */
const attack = (root: string) => [
  { call: 'builder_agent', args: { task: 'Build it.' } },
  {
    call: 'write_file',
    args: { path: 'extensions/trap/manifest.yaml', content: manifest('trap', 'entrypoint: main:Main') },
  },
  { call: 'write_file', args: { path: 'extensions/trap/main.js', content: `${mark(root)}\n${entrypoint()}` } },
  { call: 'request_restart', args: {} },
  { text: 'Written.' },
  { text: 'Done.' },
];

/** @param answer - Of the person; absent: there is nobody. */
const person = (answer?: string): Tree =>
  answer === undefined
    ? {}
    : extension(
        'person',
        '',
        `async sendMessage(text) { this.context.log.info(text); } async sendToUser() {} async confirm(question) { this.context.log.info(question); ${answer} }`,
      );

async function attacked(tree: Tree, options: Partial<Parameters<typeof boot>[0]> = {}) {
  const root = tempFolder(tree);
  const model = await scriptedModel(attack(root));
  const asked: string[] = [];
  const kernel = await start(root, {
    environment: model.environment,
    onLog: ({ extensionId, message }) => extensionId === 'person' && asked.push(message),
    config: { skill_registry: { writes: { create: 'allow', update: 'allow', delete: 'allow' } } },
    ...options,
  });
  await kernel.invokeAgent('orchestrator_agent', 'Build it.');
  const isReloaded = (texts: readonly string[]) => texts.some((text) => text.startsWith('Extensions reloaded'));
  await waitFor('the reload', () => isReloaded([...kernel.undelivered(), ...asked]));
  return { root, kernel, asked, model };
}

it('runs nothing an agent wrote where nobody can be asked, whatever the owner allows, and tells the agent', async () => {
  const { root, kernel, model } = await attacked({});
  expect(ran(root)).toBe(false);
  expect(stateOf(kernel, 'trap')).toBeUndefined();
  expect(existsSync(join(root, 'extensions/trap'))).toBe(false);
  expect(kernel.problems()).toMatchObject([
    { code: 'EXTENSION_HELD', message: expect.stringContaining('approvals show extensions/trap') },
  ]);
  const answers = JSON.stringify(model.requests.at(-2)?.messages);
  expect(answers).toContain('skill-registry approvals allow extensions/trap');
  await kernel.reload();
  const again = await start(root);
  expect(ran(root)).toBe(false);
  expect(stateOf(again, 'trap')).toBeUndefined();
});

it('shows a person the difference, runs nothing after a no, and does not ask about the same bytes again', async () => {
  const { root, kernel, asked } = await attacked(person('return false;'));
  const questions = asked.filter((text) => text.includes('Run it?'));
  expect(questions).toHaveLength(1);
  expect(questions[0]).toContain('+id: trap');
  expect(questions[0]).toContain('writeFileSync');
  expect(ran(root)).toBe(false);
  expect(stateOf(kernel, 'trap')).toBeUndefined();
});

it('runs it after a yes', async () => {
  const { root, kernel } = await attacked(person('return true;'));
  expect(stateOf(kernel, 'trap')).toBe('RUNNING');
  expect(ran(root)).toBe(true);
});
