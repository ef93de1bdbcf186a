import {
  type Command,
  type CommandResult,
  defineTool,
  isCodedError,
  type Tool,
  type TurnContext,
} from 'skill-registry/kernel';
import type { Z } from '../../../../../lib/arguments/index.ts';
import { plural, printable, withoutHidden } from '../../../../../lib/text/index.ts';
import type { Snapshot } from '../../../core/catalog/snapshot.ts';
import type { Skill } from '../../../core/skill/skill.ts';
import type { Workflows } from './types.ts';
import { eventsText, workflowPacks } from './workflows.ts';

interface WorkflowSkills<Name extends keyof Workflows = keyof Workflows> {
  readonly workflows: Pick<Workflows, Name>;
  visible(turn: TurnContext): readonly Skill[];
}

const MAX_NAMED = 20;
const MAX_IDS = 50;
const NO_LONGER = 'Instructions of skills that are no longer available do not apply in this state.';

/** `/workflow`: shows or changes the workflow state of the conversation. */
export function workflowCommand(registry: WorkflowSkills & { snapshot(): Snapshot }): Command {
  const { workflows } = registry;
  const packs = workflowPacks(registry.snapshot());
  return {
    name: 'workflow',
    usage: '[<pack> [state] | off]',
    choices: ['off', ...packs],
    description: 'Enters a state of a pack’s workflow: agents then see its skills and no others',
    async execute(args, turn) {
      if (args === '') return print(positionText(registry, turn, packs));
      const before = idsOf(registry, turn);
      try {
        if (args === 'off') workflows.leave(turn);
        else workflows.enter(turn, ...packAndState(args, packs));
      } catch (error) {
        if (!isCodedError(error, 'INVALID_ARGUMENT')) throw error;
        return print(error.message);
      }
      const now = idsOf(registry, turn);
      const gone = before.filter((id) => !now.includes(id));
      const goneText = gone.length > 0 ? [`No longer visible: ${named(gone)}.`] : [];
      const where = workflows.at(turn).workflowState
        ? positionText(registry, turn, [])
        : `No workflow. ${plural(now.length, 'skill')}.`;
      return print([where, ...goneText].join('\n'));
    },
  };
}

/** Only for conversations in a workflow with events (`isAvailableIn`). Says which skills were added and removed. */
export function workflowEventTool(registry: WorkflowSkills<'at' | 'follow' | 'hasEvents'>, z: Z): Tool {
  const { workflows } = registry;
  const tool = defineTool({
    name: 'workflow_event',
    description:
      'Says that an event of the workflow has happened, which changes its state, and with it the skills that are available. ' +
      'The events of the present state stand in the instructions and in each answer.',
    input: z.strictObject({ event: z.string().describe('The name of the event, exactly as it is given.') }),
    async execute({ event }, { turn }) {
      const before = idsOf(registry, turn);
      const { state, events } = workflows.follow(turn, event);
      const now = idsOf(registry, workflows.at(turn));
      const gone = before.filter((id) => !now.includes(id));
      return {
        success: true,
        state: withoutHidden(state).text,
        events: [...events.keys()],
        skills: listed(now, MAX_IDS),
        no_longer_available: listed(gone, MAX_IDS),
        ...(gone.length > 0 ? { note: NO_LONGER } : {}),
      };
    },
  });
  return { ...tool, isAvailableIn: (turn) => workflows.hasEvents(turn) };
}

// --- internal ---

/** The id of a pack may contain blanks: the longest known id at the beginning counts. */
function packAndState(args: string, packs: readonly string[]): [pack: string, state?: string] {
  const [known] = packs.filter((id) => args === id || args.startsWith(`${id} `)).sort((a, b) => b.length - a.length);
  const pack = known ?? args.split(/\s/, 1).join('');
  const state = args.slice(pack.length).trim();
  return state === '' ? [pack] : [pack, state];
}

function positionText(registry: WorkflowSkills, turn: TurnContext, packs: readonly string[]): string {
  const { workflows } = registry;
  const position = workflows.position(turn);
  const { workflowState } = workflows.at(turn);
  if (!position && workflowState) {
    const { pack, state } = workflowState;
    const what =
      state === undefined
        ? `pack "${printable(pack)}" with a workflow`
        : `state "${printable(state)}" in "${printable(pack)}"`;
    return `There is no ${what}, so no skill is visible. /workflow <pack> [state] begins another workflow, /workflow off ends it.`;
  }
  if (!position) {
    return packs.length === 0
      ? 'No workflow, and no pack has one. Add a prompt pack to sources: { pack: <file> }.'
      : `No workflow. /workflow <pack> [state] begins one. Packs: ${named(packs)}.`;
  }
  const skills = idsOf(registry, turn);
  const events = position.events.size > 0 ? `Events: ${eventsText(position.events)}.` : 'No event leaves this state.';
  return [
    `Workflow ${printable(position.pack)}, state ${printable(position.state)}. States: ${named(position.states)}.`,
    printable(events),
    skills.length === 0 ? 'No skill is visible.' : `Skills: ${named(skills)}.`,
  ].join('\n');
}

function idsOf({ visible }: Pick<WorkflowSkills, 'visible'>, turn: TurnContext): readonly string[] {
  return visible(turn).map(({ id }) => id);
}

function listed(ids: readonly string[], most: number): readonly string[] {
  const more = ids.length > most ? [`... ${ids.length - most} more`] : [];
  return [...ids.slice(0, most).map((id) => printable(id)), ...more];
}

function named(ids: readonly string[]): string {
  return listed(ids, MAX_NAMED).join(', ');
}

function print(text: string): CommandResult {
  return { kind: 'print', text };
}
