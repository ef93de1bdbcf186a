import type { TurnContext } from 'skill-registry/kernel';
import { expect, it } from 'vitest';
import { agent, bootRoot, skill } from '../../../helpers/boot-root.ts';

const states = (closing: string) => ({ open: { on_event: {} }, closing: { on_event: {}, skills: closing } });
const tree = (closing: string) => ({
  ...skill('tea'),
  ...skill('cup'),
  ...skill('pot', {}, 'Body that is preloaded.'),
  ...agent('talker', 'uses_skills: [tea], uses_tools: [skill_registry], instructions: Be kind.'),
  'desk.json': JSON.stringify({
    id: 'desk',
    skills: [{ path: 'skills', preload: true }],
    workflow: { version: 1, entry: 'open', states: states(closing) },
  }),
});
const SOURCES = { sources: [{ path: 'skills' }, { pack: 'desk.json' }] };
const inState = (state: string): TurnContext => ({
  agentId: 'talker',
  threadId: 'one',
  workflowState: { pack: 'desk', state },
});

it.each(['none', ' None '])(
  'a state of %j has no body of a bound skill, and nothing that a person has loaded',
  async (closing) => {
    const { kernel, model } = await bootRoot(tree(closing), SOURCES);
    await kernel.runCommand('/skills:cup', { agentId: 'talker', threadId: 'one' });
    const tool = kernel.tools().find((one) => one.tool.name === 'read_skill')?.tool;
    const reads = async (skill_id: string, state: string): Promise<boolean> => {
      const boundSkills = ['tea'];
      const call = { turn: { ...inState(state), boundSkills }, signal: new AbortController().signal };
      const answered = tool?.execute({ skill_id } as never, call).then(({ success }) => success);
      return (await answered?.catch(() => false)) === true;
    };
    const sent = async (state: string): Promise<string> => {
      await kernel.invokeAgent('talker', 'Hello', { turn: inState(state) });
      return JSON.stringify(model.requests.at(-1)?.messages);
    };
    expect(await sent('open')).toContain('Body of tea.');
    expect([await reads('tea', 'open'), await reads('cup', 'open')]).toEqual([true, true]);
    const text = await sent('closing');
    expect(text).toContain('Be kind.');
    expect(text).not.toMatch(/Body|Skill:|`tea`|`cup`/);
    expect([await reads('tea', 'closing'), await reads('cup', 'closing')]).toEqual([false, false]);
    expect(await reads('skills:cup', 'closing')).toBe(false);
    // The next state has them again.
    expect(await sent('open')).toContain('Body of tea.');
    expect(await reads('cup', 'open')).toBe(true);
  },
);
