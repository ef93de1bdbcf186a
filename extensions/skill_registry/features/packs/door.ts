import { basename } from 'node:path';
import type { TurnContext } from 'skill-registry/kernel';
import { PACKAGE_NAME } from '../../../../lib/files/index.ts';
import { type CheckedCalls, ofTurn, text, words } from '../../core/checked-calls.ts';
import { someText, textLike } from '../../core/config/readers.ts';
import { locate } from '../../core/config/source-entry.ts';
import type { Core, Feature } from '../../core/feature.ts';
import type { Opened } from '../../core/seams.ts';
import type { SourceKind } from '../../core/sources/source-kind.ts';
import { commands } from './commands.ts';
import { workflowCommand, workflowEventTool } from './workflow/offers.ts';
import type { Workflows } from './workflow/types.ts';
import { createWorkflows, skillsOfState, workflowText } from './workflow/workflows.ts';

const packageKind: SourceKind = {
  key: 'package',
  entry: { package: textLike(PACKAGE_NAME, 'expected the name of an npm package') },
  after: 'path',
  // Because packs contain packages, too.
  asksItself: true,
  async open({ package: name = '' }, { decisions, idOr, options, root }) {
    const id = idOr(name);
    const { createPackageSource } = await import('./package-source.ts');
    return [createPackageSource({ ...options, decisions, id, name, from: root })];
  },
};

const packKind: SourceKind = {
  key: 'pack',
  entry: { pack: someText },
  after: 'package',
  preload: 'own',
  async open({ pack = '', preload }, { decisions, idOr, mayName, options, root }) {
    const file = locate(pack, root);
    const id = idOr(basename(file).replace(/(\.pack)?\.json$/, ''));
    const { createPackSource } = await import('./pack-source.ts');
    return [createPackSource({ ...options, decisions, id, file, mayName, preload })];
  },
};

/** npm packages and prompt packs as sources, and the workflows of packs. Needs validate. */
export const packs: Feature = {
  id: 'packs',
  sources: [packageKind, packKind],
  open,
  commands: async () => commands,
};

// --- internal ---

const EVENT_TOOL = 'workflow_event';

function open({ call, catalog }: Core): Opened {
  const workflows = createWorkflows(() => catalog.snapshot());
  return {
    admin: { workflows: workflowFunctions(workflows, call) },
    turns: {
      at: workflows.at,
      narrow: skillsOfState,
      text(turn) {
        const position = turn.tools?.includes(EVENT_TOOL) ? workflows.position(turn) : undefined;
        return position && workflowText(position);
      },
    },
    tools: { [EVENT_TOOL]: workflowEventTool },
    // Only agents in a workflow with events get it (`isAvailableIn`).
    agentTools: [EVENT_TOOL],
    commands: (registry) => [workflowCommand({ ...registry, workflows: registry.admin.workflows })],
  };
}

/** About the conversation itself: its workflow is not filled in. */
function workflowFunctions(
  { at, position, enter, leave, follow, hasEvents }: Workflows,
  { now }: CheckedCalls,
): Workflows {
  const checked = now('workflows.at(turn)', [ofTurn], (turn: TurnContext) => turn);
  return {
    at(turn) {
      const given = checked(turn);
      const found = at(given);
      return found === given ? ((turn as TurnContext | undefined) ?? found) : found;
    },
    position: now('workflows.position(turn)', [ofTurn], position),
    enter: now('workflows.enter(turn, pack, state)', [ofTurn, text, words], enter),
    leave: now('workflows.leave(turn)', [ofTurn], leave),
    follow: now('workflows.follow(turn, event)', [ofTurn, text], follow),
    hasEvents: now('workflows.hasEvents(turn)', [ofTurn], hasEvents),
  };
}
