import { type Command, type CommandResult, isCodedError, type TurnContext } from 'skill-registry/kernel';
import { printable } from '../../../lib/text/index.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { Skill } from '../skill/skill.ts';
import type { Workflows } from './types.ts';
import { eventsText, workflowPacks } from './workflows.ts';

export interface SkillsInWorkflows {
  readonly workflows: Workflows;
  snapshot(): Snapshot;
  visible(turn: TurnContext): readonly Skill[];
}

const MAX_NAMED = 20;

/** `/workflow`: shows or changes the workflow state of the conversation. */
export function workflowCommand(registry: SkillsInWorkflows): Command {
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
        : `No workflow. ${now.length} skill(s).`;
      return print([where, ...goneText].join('\n'));
    },
  };
}

// --- internal ---

/** The id of a pack may contain blanks: the longest known id at the beginning counts. */
function packAndState(args: string, packs: readonly string[]): [pack: string, state?: string] {
  const [known] = packs.filter((id) => args === id || args.startsWith(`${id} `)).sort((a, b) => b.length - a.length);
  const pack = known ?? args.split(/\s/, 1).join('');
  const state = args.slice(pack.length).trim();
  return state === '' ? [pack] : [pack, state];
}

function positionText(
  registry: Pick<SkillsInWorkflows, 'workflows' | 'visible'>,
  turn: TurnContext,
  packs: readonly string[],
): string {
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

function idsOf({ visible }: Pick<SkillsInWorkflows, 'visible'>, turn: TurnContext): readonly string[] {
  return visible(turn).map(({ id }) => id);
}

function named(ids: readonly string[]): string {
  const more = ids.length > MAX_NAMED ? [`... ${ids.length - MAX_NAMED} more`] : [];
  return [...ids.slice(0, MAX_NAMED).map((id) => printable(id)), ...more].join(', ');
}

function print(text: string): CommandResult {
  return { kind: 'print', text };
}
