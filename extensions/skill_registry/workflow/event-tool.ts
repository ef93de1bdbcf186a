import { defineTool, type Tool } from 'skill-registry/kernel';
import type { Z } from '../../../lib/arguments/index.ts';
import { printable, withoutHidden } from '../../../lib/text/index.ts';
import type { SkillsInWorkflows } from './command.ts';
import type { Workflows } from './types.ts';

const MAX_IDS = 50;

/** Only for conversations in a workflow with events (`isAvailableIn`). Says which skills were added and removed. */
export function workflowEventTool(
  {
    visible,
    workflows,
  }: Pick<SkillsInWorkflows, 'visible'> & { readonly workflows: Pick<Workflows, 'at' | 'follow' | 'hasEvents'> },
  z: Z,
): Tool {
  const tool = defineTool({
    name: 'workflow_event',
    description:
      'Says that an event of the workflow has happened, which changes its state, and with it the skills that are available. ' +
      'The events of the present state stand in the instructions and in each answer.',
    input: z.strictObject({ event: z.string().describe('The name of the event, exactly as it is given.') }),
    async execute({ event }, { turn }) {
      const before = visible(turn).map(({ id }) => id);
      const { state, events } = workflows.follow(turn, event);
      const now = visible(workflows.at(turn)).map(({ id }) => id);
      const gone = before.filter((id) => !now.includes(id));
      return {
        success: true,
        state: withoutHidden(state).text,
        events: [...events.keys()],
        skills: listed(now),
        no_longer_available: listed(gone),
        ...(gone.length > 0
          ? { note: 'Instructions of skills that are no longer available do not apply in this state.' }
          : {}),
      };
    },
  });
  return { ...tool, isAvailableIn: (turn) => workflows.hasEvents(turn) };
}

// --- internal ---

function listed(ids: readonly string[]): readonly string[] {
  const more = ids.length > MAX_IDS ? [`... ${ids.length - MAX_IDS} more`] : [];
  return [...ids.slice(0, MAX_IDS).map((id) => printable(id)), ...more];
}
