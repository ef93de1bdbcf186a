import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { type BootOptions, boot, type Kernel, runTool } from 'skill-registry/kernel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { scriptedModel, systemText, toolResults } from '../../helpers/scripted-model.ts';
import { type Tree, tempFolder, writeTree } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';
import { copyTemplate, NO_TERMINAL, TEMPLATES } from '../../skills/templates.ts';

/** An extension whose members are `body`, on top of an empty lifecycle. */
function extension(id: string, body: string): Tree {
  const main = `export class Probe {
    async initialize(context) { this.context = context; }
    async stop() {}
    async destroy() {}
    healthCheck() { return true; }
    ${body}
  }`;
  return {
    [`extensions/${id}/manifest.yaml`]: `id: ${id}\nname: ${id}\nversion: 1.0.0\nentrypoint: main:Probe\n`,
    [`extensions/${id}/main.js`]: main,
  };
}

async function bootTemplates(
  kinds: readonly string[],
  { tree = {}, ...options }: Omit<BootOptions, 'root'> & { readonly tree?: Tree } = {},
): Promise<{ root: string; kernel: Kernel; ids: readonly string[] }> {
  const root = tempFolder({ ...NO_TERMINAL, ...tree });
  const ids = kinds.map((kind) => copyTemplate(kind, root).id);
  const kernel = await boot({ root, ...options });
  onTestFinished(() => kernel.shutdown());
  return { root, kernel, ids };
}

/** Problems that have to do with one extension. */
function problemsNaming(kernel: Kernel, root: string, id: string): readonly string[] {
  return kernel
    .problems()
    .filter(({ file, message }) => file.startsWith(join(root, 'extensions', id)) || message.includes(`"${id}"`))
    .map(({ message }) => message);
}

function toolOf(kernel: Kernel, name: string) {
  const found = kernel.tools().find(({ tool }) => tool.name === name);
  if (!found) throw new Error(`no tool ${name}`);
  return found.tool;
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

const CALL = { turn: {}, signal: new AbortController().signal };

it.each(TEMPLATES)('the template %s runs as it is, with no problem naming it', async (kind) => {
  const { root, kernel, ids } = await bootTemplates([kind]);
  const id = ids[0] as string;
  expect(kernel.extensions().find((one) => one.id === id)).toMatchObject({ state: 'RUNNING', healthy: true });
  expect(problemsNaming(kernel, root, id)).toEqual([]);
  await kernel.shutdown();
  expect(problemsNaming(kernel, root, id)).toEqual([]);
});

it('all templates run side by side, also after a reload', async () => {
  const { root, kernel, ids } = await bootTemplates(TEMPLATES);
  await kernel.reload();
  expect(new Set(ids).size).toBe(TEMPLATES.length);
  for (const id of ids) {
    expect(kernel.extensions().find((one) => one.id === id)?.state).toBe('RUNNING');
    expect(problemsNaming(kernel, root, id)).toEqual([]);
  }
});

describe('the template tool-provider', () => {
  it('offers a tool that answers, refuses with a code, and checks its arguments', async () => {
    const { kernel } = await bootTemplates(['tool-provider'], { config: { example_tool: { max_characters: 20 } } });
    const tool = toolOf(kernel, 'example_count_words');
    expect(await runTool(tool, { text: ' one two\nthree ' }, CALL)).toEqual({ success: true, words: 3 });
    expect(await runTool(tool, { text: 'x'.repeat(21) }, CALL)).toMatchObject({ error: { code: 'TEXT_TOO_LONG' } });
    expect(await runTool(tool, { words: 1 }, CALL)).toMatchObject({ error: { code: 'INVALID_ARGUMENT' } });
  });

  it('says what is wrong with the config its owner wrote', async () => {
    const { root, kernel } = await bootTemplates(['tool-provider'], {
      tree: { 'data/example_tool/config.yaml': 'max_characters: many\n' },
    });
    expect(kernel.extensions().find((one) => one.id === 'example_tool')?.state).toBe('ERROR');
    expect(problemsNaming(kernel, root, 'example_tool').join()).toMatch(/config: .*number.*max_characters/s);
  });
});

it('the template context-provider puts notes into the system text, and nothing when there are none', async () => {
  const { root, kernel } = await bootTemplates(['context-provider'], {
    config: { example_context: { max_characters: 9 } },
  });
  const describe = async (agentId: string) =>
    (await kernel.describeTurn(agentId, 'hello', {})).filter((part) => part.source === 'example_context');

  expect(await describe('orchestrator_agent')).toEqual([]);
  writeTree(root, { 'data/example_context/notes.md': 'Tea at 5.\nOr later.\n' });
  expect(await describe('orchestrator_agent')).toMatchObject([{ text: '[Notes]\nTea at 5.' }]);
  expect(await describe('builder_agent')).toEqual([]);
  expect(problemsNaming(kernel, root, 'example_context')).toEqual([]);
});

describe('the template service', () => {
  const listener = extension(
    'listener',
    "async start() { this.context.events.subscribe('example_round_done', ({ round }) => this.context.log.info('round ' + round)); }",
  );
  const complaints = (kernel: Kernel) => kernel.problems().filter(({ code }) => /SERVICE|STOP|EVENT/.test(code));

  it('works in rounds and tells of each', async () => {
    const heard: string[] = [];
    const { root, kernel } = await bootTemplates(['service'], {
      config: { example_service: { interval_seconds: 0.01 } },
      tree: listener,
      onLog: ({ message }) => void heard.push(message),
    });
    await waitFor('a third round', () => heard.includes('round 3'));

    await kernel.shutdown();
    expect(complaints(kernel)).toEqual([]);
    const { round, at } = JSON.parse(readFileSync(join(root, 'data/example_service/last-round.json'), 'utf8'));
    expect(round).toBeGreaterThanOrEqual(3);
    expect(Date.parse(at)).toBeGreaterThan(0);
  });

  it('does not wait for its next round when it is told to end', async () => {
    const heard: string[] = [];
    const { kernel } = await bootTemplates(['service'], {
      tree: listener,
      onLog: ({ message }) => void heard.push(message),
    });
    await waitFor('the first round', () => heard.includes('round 1'));
    await kernel.shutdown();
    expect(complaints(kernel)).toEqual([]);
  });
});

describe('the template channel', () => {
  const files = (root: string) => ({
    outbox: () => textOf(join(root, 'data/example_channel/outbox.txt')),
    /** Whole or not at all, as somebody who writes to a watched file must. */
    send(text: string): void {
      writeTree(root, { 'data/example_channel/new.txt': text });
      renameSync(join(root, 'data/example_channel/new.txt'), join(root, 'data/example_channel/inbox.txt'));
    },
  });
  const config = { example_channel: { poll_ms: 10 } };

  it('gets what extensions tell the user', async () => {
    const tree = extension('teller', "async start() { this.context.notifyUser('The kettle is on.'); }");
    const { root } = await bootTemplates(['channel'], { tree, config });
    await waitFor('the message', () => files(root).outbox().includes('The kettle is on.\n'));
  });

  it('runs commands and carries out what they ask for', async () => {
    const { root, kernel } = await bootTemplates(['channel', 'agent'], { config });
    const { send, outbox } = files(root);
    send('/tools\n/agents example_agent\n\n/new\n/quit\n/nonsense\nhello\n');
    await waitFor('an answer to the last line', () => outbox().includes('MODEL_NOT_CONFIGURED'));
    const said = ['read_skill  (skill_registry)', 'speaking to example_agent', 'New conversation.', 'stays open'];
    for (const text of [...said, 'COMMAND_NOT_FOUND']) expect(outbox()).toContain(text);
    expect(problemsNaming(kernel, root, 'example_channel')).toEqual([]);
  });

  it('hands text to the agent, with what was said before', async () => {
    const { environment, requests } = await scriptedModel([{ text: 'Good morning.' }, { text: 'As I said.' }]);
    const { root } = await bootTemplates(['channel'], { config, environment });
    const { send, outbox } = files(root);
    send('hello\nagain\n');
    await waitFor('both answers', () => outbox() === 'Good morning.\nAs I said.\n');
    const said = requests[1]?.messages.map(({ content }) => content).slice(1);
    expect(said).toEqual(['hello', 'Good morning.', 'again']);
  });
});

it('the template command shows the state of all extensions, or of one', async () => {
  const { kernel } = await bootTemplates(['command']);
  const command = kernel.commands().find(({ name }) => name === 'example_status');
  expect(command?.choices).toContain('skill_registry');
  const run = (line: string) => kernel.runCommand(line, {});
  expect(await run('/example_status example_command')).toEqual({ kind: 'print', text: '  example_command: RUNNING' });
  expect(await run('/example_status')).toMatchObject({ text: expect.stringContaining('  cli_channel: DISABLED, ') });
  expect(await run('/example_status nobody')).toEqual({ kind: 'print', text: 'No extension "nobody".' });
  expect(await run('/help')).toMatchObject({ text: expect.stringContaining('/example_status [id]') });
});

it('the template agent answers with its own prompt and only the tools it was given', async () => {
  const { environment, requests } = await scriptedModel([{ text: 'There are some.' }]);
  const { kernel } = await bootTemplates(['agent', 'tool-provider'], { environment });
  expect(kernel.agents().find(({ id }) => id === 'example_agent')).toMatchObject({ integrationMode: 'tool' });
  expect((await kernel.invokeAgent('example_agent', 'Which skills are there?')).text).toBe('There are some.');
  expect(systemText(requests[0])).toMatch(/^You are the Example Agent\./);
  expect(systemText(requests[0])).toContain('[Available Skills]');
  const tools = requests[0]?.tools?.map((tool) => tool.function.name);
  expect(tools).toContain('read_skill');
  expect(tools).not.toContain('example_count_words');
});

describe('the template agent-code', () => {
  it('answers by its rule, keeps the conversation, and stops when it is cancelled', async () => {
    const { kernel } = await bootTemplates(['agent-code']);
    expect(kernel.agents().map(({ id }) => id)).toContain('example_code_agent');
    const heard: string[] = [];
    const first = await kernel.invokeAgent('example_code_agent', 'What are your hours?', {
      onText: (text) => void heard.push(text),
    });
    expect(first).toMatchObject({ text: "We are open from 9 to 17 o'clock, Monday to Friday.", stopped: 'done' });
    expect(heard).toEqual([first.text]);
    const second = await kernel.invokeAgent('example_code_agent', 'And the weather?', first);
    expect(second.text).toBe('I can only answer about: hours, return.');
    expect(second.conversation.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    const signal = AbortSignal.abort();
    expect(await kernel.invokeAgent('example_code_agent', 'hours', { signal })).toMatchObject({ stopped: 'cancelled' });
  });

  it('is a tool of other agents', async () => {
    const { environment, requests } = await scriptedModel([
      { call: 'example_code_agent', args: { task: 'May I return it?' } },
      { text: 'Yes.' },
    ]);
    const { kernel } = await bootTemplates(['agent-code'], { environment });
    await kernel.invokeAgent('orchestrator_agent', 'May I return it?');
    expect(toolResults(requests[1])).toEqual([
      { success: true, answer: 'Send it back within 30 days.', stopped: 'done' },
    ]);
  });
});
