import { skillSystemPrompt } from 'skill-registry/ai-sdk';
import { describe, expect, it } from 'vitest';
import { agent, bootRoot, skill } from '../../helpers/boot-root.ts';
import { httpClient, serveRegistry } from '../../helpers/mcp.ts';
import { openRegistry } from '../../helpers/open-registry.ts';
import { systemText } from '../../helpers/scripted-model.ts';
import type { Tree } from '../../helpers/temp-folder.ts';

const FEW: Tree = { ...skill('tea'), ...skill('cup') };
const MANY: Tree = Object.assign({}, ...Array.from({ length: 60 }, (_, n) => skill(`skill-${n}`)));
/** Tools of the registry that a text could name. */
const NAMED = /\b(?:list_skills|read_skill(?:_resource)?|load_skill|propose_skill_update|create_skill|skill(?=\())/g;
/** The strong wording takes about 200 tokens of each. */
const [LITTLE, SOME] = [{ budget_tokens: 350 }, { budget_tokens: 785 }];
const SOURCES = { sources: [{ path: 'skills' }] };

const ANSWERS: readonly (readonly [tools: readonly string[], loads: string, xml: string])[] = [
  [['list_skills', 'read_skill'], 'read_skill(skill_id)', 'read_skill(skill_id="<name>")'],
  [['read_skill_resource', 'load_skill'], 'load_skill(name)', 'load_skill(name="<name>")'],
  [['skill'], 'skill(action="view", name)', 'skill(action="view", name="<name>")'],
  [['list_skills'], '', ''],
  [[], '', ''],
];

/** What the model of an agent is sent: its system text, and the names of its tools. */
async function sentTo(id: string, tree: Tree, config: object) {
  const { kernel, model } = await bootRoot(tree, { ...SOURCES, ...config });
  await kernel.invokeAgent(id, 'Make tea.');
  const [request] = model.requests;
  return { system: systemText(request), tools: (request?.tools ?? []).map((tool) => tool.function.name) };
}

function expectOnly(text: string, tools: readonly string[]): void {
  for (const [name] of text.matchAll(NAMED)) expect(tools).toContain(name);
}

describe.each(ANSWERS)('an agent that has the tools %j', (tools, loads, xml) => {
  const helper = agent('helper', 'uses_tools: [skill_registry]');

  it.each([
    ['few skills', FEW, {}],
    ['more skills than fit', MANY, LITTLE],
    ['descriptions that do not fit', MANY, SOME],
  ])('is told of no other: %s', async (_, tree, budget) => {
    for (const format of ['bullets', 'xml']) {
      const catalog = { format, enforcement: true, ...budget };
      const sent = await sentTo('helper', { ...tree, ...helper }, { tools, catalog });
      expect(sent.tools).toEqual(tools);
      expectOnly(sent.system, tools);
      if (loads) expect(sent.system).toContain(`load its full instructions with ${loads} BEFORE`);
      else expect(sent.system).not.toMatch(/load full instructions|FIRST PRIORITY/);
      expect(sent.system).toContain(format === 'xml' ? xml : loads && `\nUse ${loads} to load full instructions.`);
      const isShort = / of 60 skills shown/.test(sent.system);
      expect(sent.system.includes('list_skills(query) finds the rest.')).toBe(tools.includes('list_skills') && isShort);
      expect(isShort).toBe(budget === LITTLE || (budget === SOME && format === 'xml'));
      expect(sent.system).not.toMatch(/\b(\d+) of \1 skills/);
    }
  });

  it('hears nothing else from the orchestrator’s prompt, over MCP and in the AI SDK', async () => {
    const { system } = await sentTo('orchestrator_agent', FEW, { tools });
    expectOnly(system, tools);
    const { registry } = await openRegistry(FEW, { tools });
    expectOnly(await skillSystemPrompt(registry), tools);
    const { serving } = await serveRegistry(FEW, { mcp: { tools } });
    const instructions = (await httpClient(serving.url)).getInstructions() ?? '';
    expect(instructions).toContain('`tea`');
    expectOnly(instructions, tools);
    if (loads) expect(instructions).toContain(`Use ${loads} to load`);
  });
});

it('an agent without tools is told of none, whatever the registry offers to others', async () => {
  const { system, tools } = await sentTo('clerk', { ...FEW, ...agent('clerk', 'instructions: Write.') }, {});
  expect(tools).toEqual([]);
  expect(system).toBe('Write.\n\n---\n\n[Available Skills]\n• `cup` — Does cup.\n• `tea` — Does tea.');
});

it('a preloaded body that does not fit is named with the tool the agent has', async () => {
  const tree: Tree = Object.assign(
    {},
    ...['a', 'b', 'c', 'd', 'e', 'f'].map((id) => skill(id, {}, 'word '.repeat(90))),
  );
  const preloaded = { sources: [{ path: 'skills', preload: true }], limits: { skill_tokens: 100 } };
  const helper = agent('helper', 'uses_tools: [skill_registry]');
  const loading = await sentTo('helper', { ...tree, ...helper }, { ...preloaded, tools: ['load_skill'] });
  expect(loading.system).toContain('3 of 6 preloaded skills are given in full; load the others with load_skill(name).');
  const none = await sentTo('helper', { ...tree, ...helper }, { ...preloaded, tools: [] });
  expect(none.system).toContain('3 of 6 preloaded skills are given in full.\n');
});
