import { runTool, type Tool } from 'skill-registry/kernel';
import { type Z, zod } from '../../../../lib/arguments/index.ts';
import { loadSkillTool } from '../../features/dialects/load-skill.ts';
import { skillTool } from '../../features/dialects/skill.ts';
import { workflowEventTool } from '../../features/packs/workflow/doors.ts';
import { createSkillTool, listProposalsTool, proposeSkillUpdateTool } from '../../features/proposals/tools.ts';
import type { ToolName } from '../config/config.ts';
import { invalidArgument } from '../skill/errors.ts';
import {
  activateSkillTool,
  listSkillsTool,
  readResourceTool,
  readSkillResourceTool,
  readSkillTool,
} from './list-and-read-skills.ts';
import type { SkillsForTools } from './skills-for-tools.ts';

const MAKERS: Readonly<Record<ToolName | 'workflow_event', (registry: SkillsForTools, z: Z) => Tool>> = {
  list_skills: listSkillsTool,
  read_skill: readSkillTool,
  read_skill_resource: readSkillResourceTool,
  propose_skill_update: proposeSkillUpdateTool,
  list_proposals: listProposalsTool,
  load_skill: loadSkillTool,
  create_skill: createSkillTool,
  skill: skillTool,
  skill__activate: activateSkillTool,
  skill__read_resource: readResourceTool,
  workflow_event: workflowEventTool,
};

/** Tools scan first when the agent does not see the skill: it may just have been written. @throws INVALID_ARGUMENT. */
export function makeTools(names: readonly string[], registry: SkillsForTools): readonly Tool[] {
  return names.map((name) => {
    const make = Object.hasOwn(MAKERS, name) ? MAKERS[name as keyof typeof MAKERS] : undefined;
    if (make) return lookingFirst(make(registry, zod()), registry);
    throw invalidArgument(`There is no tool ${JSON.stringify(name)}. Tools: ${Object.keys(MAKERS).join(', ')}.`);
  });
}

// --- internal ---

/** `execute` never throws, also when a program calls it with invalid values. */
function lookingFirst(tool: Tool, registry: Pick<SkillsForTools, 'visible' | 'refresh' | 'workflows'>): Tool {
  const { visible, refresh } = registry;
  const execute: Tool['execute'] = async (args: Readonly<Record<string, unknown>>, given) => {
    // Read at each call: an earlier call of the same turn may have changed the state of the workflow.
    const turn = registry.workflows.at(given?.turn ?? {});
    const asked = args.skill_id ?? args.name ?? args.skill_name;
    const isSeen = visible(turn).some(({ id, qualifiedId }) => id === asked || qualifiedId === asked);
    // A failed scan is a problem of the sources; the answer then comes from the last snapshot.
    if (!isSeen) await refresh().catch(() => undefined);
    return tool.execute(args as never, { turn, signal: given?.signal ?? new AbortController().signal });
  };
  return { ...tool, execute: (args, call) => runTool({ ...tool, execute }, args, call) };
}
