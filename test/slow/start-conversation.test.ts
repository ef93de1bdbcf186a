import { expect, it } from 'vitest';
import { runCommand, startCommand } from '../helpers/run-command.ts';
import { scriptedModel, systemText } from '../helpers/scripted-model.ts';
import { skillMd, tempFolder, writeTree } from '../helpers/temp-folder.ts';

const TEA = { 'skills/tea/SKILL.md': skillMd({ name: 'tea', description: 'How to brew tea.' }, 'Boil water.') };

it('answers every command without a model, and refuses to talk by naming the three settings', async () => {
  const root = tempFolder(TEA);
  const input =
    '/help\n/skills\n/skills reload\n/context about tea\n/new\n/tools\n/agents\n/skills:tea now\nhello\n/nope\n/quit\n/help\n';
  const { status, stdout } = await runCommand(['start', '--root', root], { input });
  // Two turns without a model, and a command that does not exist.
  expect(status).toBe(1);
  expect(stdout.match(/\/context <text>/g)?.length).toBeGreaterThan(1);
  expect(stdout).toContain('Reloaded');
  expect(stdout).toContain('=== orchestrator_agent (');
  expect(stdout).toContain('[Available Skills]\n• `tea` — How to brew tea.');
  expect(stdout).toContain('New conversation.');
  expect(stdout).toContain('read_skill_resource  (skill_registry)');
  expect(stdout).toContain('builder_agent  (tool)');
  expect(stdout).toContain('No command /nope');
  const refusals = stdout.match(/MODEL_NOT_CONFIGURED.*MODEL_BASE_URL.*MODEL_API_KEY.*MODEL_NAME/g);
  expect(refusals).toHaveLength(2);
});

it('sends the apply message at once, with and without arguments', async () => {
  const root = tempFolder(TEA);
  const model = await scriptedModel([{ text: 'one' }, { text: 'two' }]);
  const { stdout } = await runCommand(['start', '--root', root], {
    input: '/skills:tea green, please\n/new\n/skills:tea\n',
    environment: model.environment,
  });
  const said = model.requests.map((request) => request.messages.at(-1)?.content);
  expect(said).toEqual([
    'Apply Skill "tea" with arguments: "green, please"\n\nInstructions:\nBoil water.',
    'Apply Skill "tea".\n\nInstructions:\nBoil water.',
  ]);
  expect(stdout).toContain('one\n');
});

it('keeps the conversation until /new, and shows in /context what the next request carries', async () => {
  const root = tempFolder(TEA);
  const model = await scriptedModel([{ text: 'Hello.' }, { text: 'Again.' }, { text: 'Fresh.' }]);
  const { stdout } = await runCommand(['start', '--root', root], {
    input: '/context hi\nhi\nand?\n/new\nhi\n',
    environment: model.environment,
  });
  const roles = model.requests.map((request) => request.messages.map((message) => message.role));
  expect(roles).toEqual([
    ['system', 'user'],
    ['system', 'user', 'assistant', 'user'],
    ['system', 'user'],
  ]);
  for (const part of systemText(model.requests[0]).split('\n\n---\n\n')) expect(stdout).toContain(part);
});

it('reloads after a turn that asked for it, before the next piped line, without what nobody has approved', async () => {
  const root = tempFolder(TEA);
  const manifest = 'id: hello\nname: Hello\nversion: 1.0.0\nagent: { integration_mode: tool }\ndescription: Greets.\n';
  const model = await scriptedModel((_request, index) => {
    if (index === 0) return { call: 'write_file', args: { path: 'extensions/held/manifest.yaml', content: manifest } };
    if (index === 1) {
      // A person adds one meanwhile.
      writeTree(root, { 'extensions/hello/manifest.yaml': manifest });
      return { call: 'request_restart', args: {} };
    }
    return { text: 'done' };
  });
  const { status, stdout } = await runCommand(['start', '--root', root], {
    input: 'make it\nwhat now\n/agents\n',
    environment: model.environment,
  });
  expect(status).toBe(0);
  expect(stdout).toContain('Extensions reloaded: 7 running.');
  expect(stdout).toContain('wrote 1 file of extensions/held that nobody has approved');
  expect(model.requests[3]?.tools?.map((tool) => tool.function.name)).toContain('hello');
  expect(stdout).toContain('hello  (tool)  Greets.');
  expect(stdout.match(/FILES +DESCRIPTION/g)).toHaveLength(1);
});

it.each(['SIGINT', 'SIGTERM'] as const)('stops on %s, though an extension never stops', async (signal) => {
  const stubborn = `export class Stubborn {
    async initialize() {} async start() {} stop() { return new Promise(() => {}); } async destroy() {} healthCheck() { return true; }
    runBackground() { setInterval(() => {}, 1000); return new Promise(() => {}); }
  }`;
  const root = tempFolder({
    'extensions/stubborn/manifest.yaml': 'id: stubborn\nname: S\nversion: 1.0.0\nentrypoint: main:Stubborn\n',
    'extensions/stubborn/main.js': stubborn,
  });
  const running = startCommand(['start', '--root', root]);
  await running.until('Type /help');
  running.child.kill(signal);
  expect(await running.exited).toBe(0);
  expect(running.stderr()).toContain('"stubborn" did not stop in time');
});

it('counts extensions as doctor does: one that is off, one that is broken, one that needs the broken one', async () => {
  const manifest = (id: string, more: string): string =>
    `id: ${id}\nname: ${id}\nversion: 1.0.0\ndescription: One.\n${more}\n`;
  const root = tempFolder({
    ...TEA,
    'extensions/off/manifest.yaml': manifest('off', 'agent: { integration_mode: tool }\nenabled: false'),
    'extensions/broken/manifest.yaml': manifest('broken', 'entrypoint: main:Nothing'),
    'extensions/needs/manifest.yaml': manifest('needs', 'agent: { integration_mode: tool }\ndepends_on: [broken]'),
  });
  const { stdout: greeted } = await runCommand(['start', '--root', root], { input: '' });
  const { stdout: checked } = await runCommand(['doctor', '--root', root]);
  expect(greeted).toContain('; 11 extensions: 6 running, 3 off, 1 broken, 1 skipped; root ');
  expect(checked).toContain('\n11 extensions: 6 to start, 3 off, 1 broken, 1 skipped\n');
});
