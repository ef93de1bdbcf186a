import { boot, type CommandResult, type TurnContext } from 'skill-registry/kernel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WORKFLOW } from '../../../helpers/rfc-workflow.ts';
import { type ScriptedAnswer, scriptedModel, systemText, toolResults } from '../../../helpers/scripted-model.ts';
import { skillMd, type Tree, tempFolder } from '../../../helpers/temp-folder.ts';

const skill = (name: string): Tree => ({
  [`support/skills/${name}/SKILL.md`]: skillMd({ name, description: `About ${name}.` }, `Do ${name}.`),
});
const HERE: TurnContext = { threadId: 'one', agentId: 'orchestrator_agent' };
const DONE: ScriptedAnswer = { text: 'Done.' };
const read = (skill_id: string): ScriptedAnswer => ({ call: 'read_skill', args: { skill_id } });
const event = (name: string): ScriptedAnswer => ({ call: 'workflow_event', args: { event: name } });
const agent = (id: string, block: string): Tree => ({
  [`extensions/${id}/manifest.yaml`]: `id: ${id}\nname: ${id}\nversion: 1.0.0\nagent:\n  integration_mode: handoff\n  instructions: Help.\n  uses_tools: ['*']\n${block}`,
});

/** A kernel whose only skills are those of the pack. */
async function bootPack(
  script: readonly ScriptedAnswer[],
  { tree = {}, pack = WORKFLOW }: { tree?: Tree; pack?: object } = {},
) {
  const files = { ...skill('billing'), ...skill('technical'), ...skill('general'), ...tree };
  const root = tempFolder({ 'support/pack.json': JSON.stringify(pack), ...files });
  const model = await scriptedModel(script);
  const config = { skill_registry: { sources: [{ pack: 'support/pack.json' }] } };
  const kernel = await boot({ root, environment: model.environment, config });
  onTestFinished(() => kernel.shutdown());
  const type = async (line: string, turn = HERE): Promise<string> => {
    const result = await kernel.runCommand(line, turn);
    return (result as CommandResult & { text: string }).text;
  };
  const ask = (turn = HERE, id = 'orchestrator_agent') => kernel.invokeAgent(id, 'Help me.', { turn });
  const toolsOf = (index: number) => model.requests[index]?.tools?.map((tool) => tool.function.name) ?? [];
  return { model, kernel, type, ask, toolsOf };
}

describe('the worked example of the RFC, from the pack file alone', () => {
  it('goes from state to state by the events that the model tells, each with its skills and no others', async () => {
    const script = [
      read('general'),
      event('billing'),
      read('general'),
      read('billing'),
      DONE,
      event('resolved'),
      read('billing'),
      DONE,
    ];
    const { model, type, ask, toolsOf } = await bootPack(script);
    expect(await type('/workflow support-workflow')).toBe(
      'Workflow support-workflow, state triage. States: triage, billing_state, tech_state, closing.\n' +
        'Events: "billing" (to the state "billing_state"), "technical" (to the state "tech_state").\n' +
        'Skills: general.\n' +
        'No longer visible: billing, technical.',
    );
    await ask();
    expect(toolsOf(0)).toContain('workflow_event');
    expect(systemText(model.requests[0])).toContain(
      'The workflow "support-workflow" is in the state "triage". When one of these events has happened, call workflow_event with it: ' +
        '"billing" (to the state "billing_state"), "technical" (to the state "tech_state").',
    );
    const refused = { success: false, error: { code: 'SKILL_NOT_FOUND' } };
    expect(toolResults(model.requests[4])).toMatchObject([
      { success: true, content: 'Do general.' },
      {
        success: true,
        state: 'billing_state',
        events: ['resolved'],
        skills: ['billing'],
        no_longer_available: ['general'],
      },
      refused,
      { success: true, content: 'Do billing.' },
    ]);
    await ask();
    expect(systemText(model.requests[5])).toContain('is in the state "billing_state"');
    expect(systemText(model.requests[5])).toContain('• `billing`');
    expect(toolResults(model.requests[7])).toMatchObject([
      { success: true, state: 'closing', events: [], skills: [], no_longer_available: ['billing'] },
      refused,
    ]);
    expect(await type('/workflow')).toMatch(/state closing.*\nNo event leaves this state\.\nNo skill is visible\./);
  });

  it('refuses an event that the state does not have, and says which it has', async () => {
    const { model, type, ask } = await bootPack([event('resolved'), DONE]);
    await type('/workflow support-workflow triage');
    await ask();
    expect(toolResults(model.requests[1])).toMatchObject([
      {
        success: false,
        error: {
          code: 'INVALID_ARGUMENT',
          message:
            'The state "triage" of the workflow "support-workflow" has no event "resolved". It has: "billing" (to the state "billing_state"), "technical" (to the state "tech_state").',
        },
      },
    ]);
    expect(await type('/workflow')).toContain('state triage');
  });

  it('tells a model no hidden characters of the names of events and states', async () => {
    const states = {
      'first\u{e0041}': { on_event: { 'go\u{e0042}': 'second\u{e0043}' } },
      'second\u{e0043}': { on_event: { back: 'first\u{e0041}' } },
    };
    const pack = { ...WORKFLOW, workflow: { version: 1, entry: 'first\u{e0041}', states } };
    const { type, ask, model } = await bootPack([event('go'), DONE], { pack });
    await type('/workflow support-workflow');
    await ask();
    expect(toolResults(model.requests[1])).toMatchObject([{ success: true, state: 'second', events: ['back'] }]);
    expect(JSON.stringify(model.requests)).not.toMatch(/[\u{e0000}-\u{e007f}]/u);
  });

  it('takes the name of an event or a state that was shown cut as it was shown, unless two are shown so', async () => {
    const long = 'the customer has asked for something that nobody here has ever heard of';
    const states = {
      start: {
        on_event: { [long]: `${long}, state`, [`${'x'.repeat(70)}1`]: 'start', [`${'x'.repeat(70)}2`]: 'start' },
      },
      [`${long}, state`]: { on_event: { back: 'start' } },
    };
    const pack = { ...WORKFLOW, workflow: { version: 1, entry: 'start', states } };
    const { type, ask, model } = await bootPack([event(`${'x'.repeat(59)}…`), DONE], { pack });
    const shown = /"(the customer [^"]*…)" \(to the state "([^"]*…)"/.exec(await type('/workflow support-workflow'));
    await ask();
    expect(toolResults(model.requests[1])).toMatchObject([{ success: false }]);
    expect(await type(`/workflow support-workflow ${shown?.[2]}`)).toContain(', state ');
    const again = await bootPack([event(String(shown?.[1])), DONE], { pack });
    await again.type('/workflow support-workflow');
    await again.ask();
    expect(toolResults(again.model.requests[1])).toMatchObject([{ success: true, events: ['back'] }]);
  });

  it('gives the tool to nobody outside of a workflow, and not where the pack has no events', async () => {
    const states = { only: { skills: './skills/general' } };
    const { type, ask, toolsOf, model } = await bootPack([DONE, DONE, DONE], {
      pack: { ...WORKFLOW, workflow: { version: 1, entry: 'only', states } },
    });
    await ask();
    await type('/workflow support-workflow');
    await ask();
    expect([toolsOf(0), toolsOf(1)].map((tools) => tools.includes('workflow_event'))).toEqual([false, false]);
    expect(systemText(model.requests[1])).not.toMatch(/workflow|billing/);
  });

  it('keeps conversations apart, and ends with /workflow off', async () => {
    const { type, ask, model, toolsOf } = await bootPack([DONE, DONE]);
    const other = { ...HERE, threadId: 'two' };
    await type('/workflow support-workflow tech_state');
    await type('/workflow support-workflow closing', other);
    await ask();
    expect(systemText(model.requests[0])).toContain('• `technical`');
    expect(await type('/workflow off')).toBe('No workflow. 3 skills.');
    await ask();
    expect(systemText(model.requests[1])).toContain('• `billing`');
    expect(toolsOf(1)).not.toContain('workflow_event');
    expect(await type('/workflow', other)).toContain('state closing');
  });
});

describe('/workflow', () => {
  it('says what it expects', async () => {
    const { type } = await bootPack([]);
    expect(await type('/workflow')).toBe('No workflow. /workflow <pack> [state] begins one. Packs: support-workflow.');
    expect(await type('/workflow suport-workflow')).toBe(
      'There is no pack "suport-workflow" with a workflow. Nearest: "support-workflow".',
    );
    expect(await type('/workflow support-workflow trige')).toBe(
      'The workflow "support-workflow" has no state "trige". Its states: "triage", "billing_state", "tech_state", "closing".',
    );
    expect(await type('/workflow')).toMatch(/^No workflow\./);
  });
});

describe('`workflow` in the manifest of an agent', () => {
  it('puts the agent into the first state, or the one it names, and a person cannot take it to another pack', async () => {
    const tree = {
      ...agent('desk', '  workflow: support-workflow\n'),
      ...agent('closer', '  workflow: { pack: support-workflow, state: closing }\n'),
    };
    const { model, ask, type } = await bootPack([event('technical'), DONE, DONE, DONE], { tree });
    await ask({ threadId: 'one' }, 'desk');
    expect(systemText(model.requests[0])).toContain('• `general`');
    expect(toolResults(model.requests[1])).toMatchObject([{ success: true, state: 'tech_state' }]);
    await ask({ threadId: 'one' }, 'desk');
    expect(systemText(model.requests[2])).toContain('• `technical`');
    await ask({ threadId: 'two' }, 'closer');
    expect(systemText(model.requests[3])).toContain('is in the state "closing"');
    const desk = { threadId: 'one', agentId: 'desk' };
    expect(await type('/workflow', desk)).toContain('state tech_state');
    expect(await type('/workflow off', desk)).toContain('state triage');
    expect(await type('/workflow pack', desk)).toContain('which its manifest names');
  });
});
