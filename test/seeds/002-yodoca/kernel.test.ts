import type { Kernel } from 'skill-registry/kernel';
import { beforeAll, expect, it } from 'vitest';
import { agent, type BootedRoot, bootRoot, skill } from '../../helpers/boot-root.ts';
import { systemText } from '../../helpers/scripted-model.ts';
import { atEndOfSuite, type Tree, writeTree } from '../../helpers/temp-folder.ts';
import { waitFor } from '../../helpers/wait-for.ts';
import { extension } from '../../kernel/boot/boot-extensions.ts';

const TOOLS = ['list_skills', 'read_skill', 'read_skill_resource', 'propose_skill_update', 'list_proposals'];

const says = (priority: number): Tree =>
  extension(`at_${priority}`, '', `contextPriority = ${priority}; async getContext() { return 'at ${priority}'; }`);

const TREE: Tree = {
  ...skill('law', {}, '# Law\n\nAll of it.'),
  ...skill('grace'),
  ...skill('tea'),
  ...agent('judge', 'uses_skills: [law, grace], instructions: Be brief.', { 'prompt.jinja2': 'You judge.' }),
  ...agent('reader', 'uses_tools: [skill_registry], instructions: Read.'),
  ...agent('clerk', 'instructions: Write.'),
  ...says(61),
  ...says(59),
  ...extension('breaks', '', "contextPriority = 1; async getContext() { throw new Error('no'); }"),
};

const atEnd = atEndOfSuite();
let root: string;
let kernel: Kernel;
/** What the model was sent for one turn of each agent. */
const sent = new Map<string, BootedRoot['model']['requests'][number]>();

beforeAll(async () => {
  const booted = await bootRoot(TREE, {}, atEnd);
  ({ root, kernel } = booted);
  for (const id of ['orchestrator_agent', 'judge', 'reader', 'clerk']) {
    await kernel.invokeAgent(id, 'Go.');
    const request = booted.model.requests.at(-1);
    if (request) sent.set(id, request);
  }
});

const systemOf = (id: string): string => systemText(sent.get(id));

it('1a.11 the folder of skills is scanned when the extension starts', async () => {
  const { text } = (await kernel.runCommand('/skills', {})) as { text: string };
  expect(text).toMatch(/\ngrace .*\nlaw .*\ntea /);
});

it('1a.13, 5a.15 every agent carries the catalog', () => {
  for (const id of ['orchestrator_agent', 'reader', 'clerk']) {
    expect(systemOf(id), id).toContain('[Available Skills]\n• `grace` — Does grace.\n• `law` — Does law.\n• `tea` —');
  }
});

it('1a.16 the catalog stands at priority 60, after 59 and before 61', async () => {
  const parts = await kernel.describeTurn('orchestrator_agent', 'tea', {});
  expect(parts.map(({ source }) => source)).toEqual(['orchestrator_agent', 'at_59', 'skill_registry', 'at_61']);
});

it('1a.25 uses_skills is a field of the manifest', () => {
  const used = new Map(kernel.agents().map(({ id, usesSkills }) => [id, usesSkills]));
  expect(used.get('judge')).toEqual(['law', 'grace']);
  expect(used.get('clerk')).toBeUndefined();
});

it('1a.26 the whole body of a bound skill is in the instructions', () => {
  expect(systemOf('judge')).toContain('# Law\n\nAll of it.');
});

it('1a.27 instructions are the prompt file, then bound bodies, then the inline text', () => {
  const places = ['You judge.', 'All of it.', 'Body of grace.', 'Be brief.'].map((text) =>
    systemOf('judge').indexOf(text),
  );
  expect(places[0]).toBe(0);
  expect(places).toEqual([...places].sort((a, b) => a - b));
});

it('1a.28 an agent that names the registry is offered its tools, and one without uses_skills has no bodies', () => {
  expect(sent.get('reader')?.tools?.map((tool) => tool.function.name)).toEqual(TOOLS);
  expect(sent.get('clerk')?.tools ?? []).toEqual([]);
  expect(systemOf('clerk').startsWith('Write.\n\n---\n\n')).toBe(true);
  expect(systemOf('clerk')).not.toContain('Body of');
});

it('1a.32 a specialist sees its own skills, the orchestrator all', () => {
  expect(systemOf('judge')).not.toContain('`tea`');
  for (const id of ['law', 'grace', 'tea']) expect(systemOf('orchestrator_agent')).toContain(`• \`${id}\``);
});

it('1a.39 one extension is tool provider, context provider and service', async () => {
  const own = kernel.tools().filter(({ extensionId }) => extensionId === 'skill_registry');
  expect(own.map(({ tool }) => tool.name)).toEqual(expect.arrayContaining(TOOLS));
  const parts = await kernel.describeTurn('orchestrator_agent', 'x', {});
  expect(parts.map(({ source }) => source)).toContain('skill_registry');
  writeTree(root, skill('late'));
  await waitFor('the service to see a new skill', async () => {
    const [, ...now] = await kernel.describeTurn('orchestrator_agent', 'x', {});
    return now.some(({ text }) => text.includes('`late`'));
  });
});

it('1d.6 a context provider that throws costs its own text and no turn', () => {
  expect(systemOf('clerk')).toContain('at 59\n\n---\n\n[Available Skills]');
});
