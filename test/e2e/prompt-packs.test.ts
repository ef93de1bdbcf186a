import { boot, type TurnContext } from 'skill-registry/kernel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { delimited } from '../../lib/text/index.ts';
import { WORKFLOW } from '../helpers/rfc-workflow.ts';
import { type ScriptedAnswer, scriptedModel, systemText, toolResults } from '../helpers/scripted-model.ts';
import { skillMd, type Tree, tempFolder } from '../helpers/temp-folder.ts';

const skill = (path: string, files: Tree = {}): Tree => ({
  [`${path}/SKILL.md`]: skillMd(
    { name: path.split('/').at(-1) as string, description: `About ${path}.` },
    `Do ${path}.`,
  ),
  ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`${path}/${name}`, text])),
});

/** The first two examples of RFC 0008, as they stand there. */
const FILE_PATHS = {
  id: 'customer-support',
  name: 'Customer Support Pack',
  version: '1.3.1',
  skills: ['./skills/billing', './skills/technical-support'],
  prompts: { '...': '...' },
};
const MIXED = {
  id: 'enterprise-support',
  name: 'Enterprise Support Pack',
  version: '1.3.1',
  skills: [
    './skills/common',
    { path: './skills/compliance', preload: true },
    {
      name: 'escalation-protocol',
      description: 'Steps for escalating unresolved customer issues',
      instructions:
        'When a customer issue cannot be resolved within 3 exchanges:\n1. Acknowledge the complexity\n2. Collect case details\n3. Create an escalation ticket\n4. Provide the ticket reference to the customer',
    },
  ],
  prompts: { '...': '...' },
};
/** A kernel whose only skills are those of a pack. */
async function bootPack(pack: object, tree: Tree, script: readonly ScriptedAnswer[]) {
  const root = tempFolder({ 'support/pack.json': JSON.stringify(pack), ...tree });
  const model = await scriptedModel(script);
  const config = { skill_registry: { sources: [{ pack: 'support/pack.json' }] } };
  // The builder is bound to a skill of the package, which is no source here.
  const kernel = await boot({ root, environment: model.environment, config });
  onTestFinished(() => kernel.shutdown());
  const ask = (turn: TurnContext = {}) => kernel.invokeAgent('orchestrator_agent', 'Help me with billing.', { turn });
  const skillProblems = kernel.problems().filter(({ file }) => file.startsWith(`${root}/support`));
  expect(skillProblems).toEqual([]);
  return { kernel, model, ask };
}

const read = (skill_id: string): ScriptedAnswer => ({ call: 'read_skill', args: { skill_id } });
const DONE: ScriptedAnswer = { text: 'Done.' };
const blockOf = (...paths: readonly string[]): string =>
  ['[Available Skills]', ...paths.map((path) => `• \`${path.split('/').at(-1)}\` — About ${path}.`)].join('\n');

describe('the first example: skills by their paths', () => {
  it('lists both and hands them over with their files', async () => {
    const tree = {
      ...skill('support/skills/billing', { 'references/refunds.md': 'Within 30 days.' }),
      ...skill('support/skills/technical-support'),
      // Beside them, and not declared.
      ...skill('support/skills/secret'),
    };
    const { model, ask } = await bootPack(FILE_PATHS, tree, [
      read('billing'),
      { call: 'read_skill_resource', args: { skill_id: 'billing', path: 'references/refunds.md' } },
      read('secret'),
      DONE,
    ]);
    expect(await ask()).toMatchObject({ text: 'Done.', stopped: 'done' });
    const listed = blockOf('support/skills/billing', 'support/skills/technical-support');
    expect(systemText(model.requests[0])).toContain(`${listed}\n\nUse read_skill(skill_id)`);
    expect(toolResults(model.requests[3])).toMatchObject([
      {
        success: true,
        skill_id: 'billing',
        content: 'Do support/skills/billing.',
        resources: [{ path: 'references/refunds.md' }],
      },
      { success: true, content: 'Within 30 days.' },
      { success: false, error: { code: 'SKILL_NOT_FOUND' } },
    ]);
  });
});

describe('the second example: mixed sources', () => {
  const tree = { ...skill('support/skills/common'), ...skill('support/skills/compliance') };

  it('puts the preloaded body into the prompt, once, and hands the inline skill over', async () => {
    const { model, ask } = await bootPack(MIXED, tree, [read('escalation-protocol'), DONE]);
    await ask();
    const text = systemText(model.requests[0]);
    expect(text).toContain(blockOf('support/skills/common'));
    expect(text).toContain('• `escalation-protocol` — Steps for escalating unresolved customer issues');
    expect(text).toContain(
      `# Active Skills\n\nFollow their instructions.\n\n${delimited('Skill: compliance', 'Do support/skills/compliance.')}`,
    );
    expect(text.split('Do support/skills/compliance.')).toHaveLength(2);
    expect(text).not.toContain('Do support/skills/common.');
    expect(text).not.toContain('Acknowledge the complexity');
    expect(toolResults(model.requests[1])).toMatchObject([
      {
        success: true,
        name: 'escalation-protocol',
        content: MIXED.skills
          .map((entry) => (typeof entry === 'string' ? '' : entry.instructions))
          .join('')
          .trim(),
        resources: [],
        source: 'pack',
      },
    ]);
  });
});

describe('the third example: a workflow', () => {
  const tree = {
    ...skill('support/skills/billing', { 'references/refunds.md': 'Within 30 days.' }),
    ...skill('support/skills/technical'),
    ...skill('support/skills/general'),
  };
  const inState = (state?: string): TurnContext => ({
    threadId: 'one',
    workflowState: { pack: 'support-workflow', ...(state ? { state } : {}) },
  });

  it('shows in each state what that state declares, from the first one on', async () => {
    const refused = { success: false, error: { code: 'SKILL_NOT_FOUND' } };
    const resource = { call: 'read_skill_resource', args: { skill_id: 'billing', path: 'references/refunds.md' } };
    const list = { call: 'list_skills', args: {} };
    const turn = [list, read('general'), read('billing'), resource, DONE];
    const { model, ask } = await bootPack(WORKFLOW, tree, [...turn, ...turn, ...turn, ...turn]);
    for (const state of [undefined, 'billing_state', 'tech_state', 'closing']) await ask(inState(state));

    const texts = [0, 5, 10, 15].map((index) => systemText(model.requests[index]));
    const results = [4, 9, 14, 19].map((index) => toolResults(model.requests[index]));
    const [triage, billing, tech, closing] = texts as [string, string, string, string];
    expect(triage).toContain(`${blockOf('support/skills/general')}\n\nUse`);
    expect(billing).toContain(`${blockOf('support/skills/billing')}\n\nUse`);
    expect(tech).toContain(`${blockOf('support/skills/technical')}\n\nUse`);
    expect(closing).not.toMatch(/\[Available Skills\]|billing|general|technical|Active Skills/);

    expect(results[0]).toMatchObject([
      { skills: [{ skill_id: 'general' }], total: 1 },
      { success: true, content: 'Do support/skills/general.' },
      refused,
      refused,
    ]);
    expect(results[1]).toMatchObject([
      { skills: [{ skill_id: 'billing' }], total: 1 },
      refused,
      { success: true, content: 'Do support/skills/billing.' },
      { success: true, content: 'Within 30 days.' },
    ]);
    expect(results[2]).toMatchObject([{ skills: [{ skill_id: 'technical' }] }, refused, refused, refused]);
    expect(results[3]).toMatchObject([{ skills: [], total: 0 }, refused, refused, refused]);
    // A refusal says no word about what there is elsewhere.
    expect(JSON.stringify(results[3])).not.toMatch(/technical|support\/skills/);
  });

  it('keeps turns at the same time apart', async () => {
    const { model, ask } = await bootPack(WORKFLOW, tree, Array(8).fill(DONE));
    const states = ['triage', 'billing_state', 'tech_state', 'closing', 'closing', 'triage', 'tech_state', undefined];
    await Promise.all(states.map((state) => ask(inState(state))));
    const counts = ['general', 'billing', 'technical'].map(
      (id) => model.requests.filter((request) => systemText(request).includes(`• \`${id}\``)).length,
    );
    expect(counts).toEqual([3, 1, 2]);
    expect(model.requests.filter((request) => systemText(request).includes('[Available Skills]'))).toHaveLength(6);
  });
});
