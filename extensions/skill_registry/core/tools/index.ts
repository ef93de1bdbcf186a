import { runTool, type Tool } from 'skill-registry/kernel';
import { zod } from '../../../../lib/arguments/index.ts';
import type { MakeTool, ToolRegistry } from '../seams.ts';
import { invalidArgument } from '../skill/errors.ts';
import { listSkillsTool, readSkillResourceTool, readSkillTool } from './list-and-read-skills.ts';

export const CORE_TOOLS: Readonly<Record<string, MakeTool>> = {
  list_skills: listSkillsTool,
  read_skill: readSkillTool,
  read_skill_resource: readSkillResourceTool,
};

/**
 * Tools scan first when the agent does not see the skill: it may just have been written. @throws INVALID_ARGUMENT.
 */
export function makeTools(
  names: readonly string[],
  makers: Readonly<Record<string, MakeTool>>,
  registry: ToolRegistry,
): readonly Tool[] {
  return names.map((name) => {
    const make = Object.hasOwn(makers, name) ? makers[name] : undefined;
    if (make) return lookingFirst(make(registry, zod()), registry);
    throw invalidArgument(`There is no tool ${JSON.stringify(name)}. Tools: ${Object.keys(makers).join(', ')}.`);
  });
}

// --- internal ---

/** `execute` never throws, also when a program calls it with invalid values. */
function lookingFirst(tool: Tool, { visible, refresh }: Pick<ToolRegistry, 'visible' | 'refresh'>): Tool {
  const execute: Tool['execute'] = async (args: Readonly<Record<string, unknown>>, given) => {
    const turn = given?.turn ?? {};
    const asked = args.skill_id ?? args.name ?? args.skill_name;
    const isSeen = visible(turn).some(({ id, qualifiedId }) => id === asked || qualifiedId === asked);
    // A failed scan is a problem of the sources; the answer then comes from the last snapshot.
    if (!isSeen) await refresh().catch(() => undefined);
    return tool.execute(args as never, { turn, signal: given?.signal ?? new AbortController().signal });
  };
  return { ...tool, execute: (args, call) => runTool({ ...tool, execute }, args, call) };
}
