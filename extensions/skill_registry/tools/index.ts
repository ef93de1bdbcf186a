import type { Tool } from 'skill-registry/kernel';
import type { ToolName } from '../config/config.ts';
import { invalidArgument } from '../skill/errors.ts';
import { createSkillTool } from './create-skill.ts';
import { listSkillsTool, readSkillResourceTool, readSkillTool } from './list-and-read-skills.ts';
import { loadSkillTool } from './load-skill.ts';
import { proposeSkillUpdateTool } from './propose-skill-update.ts';
import { skillTool } from './skill.ts';
import type { SkillsForTools } from './skills-for-tools.ts';

const MAKERS: Readonly<Record<ToolName, (registry: SkillsForTools) => Tool>> = {
  list_skills: listSkillsTool,
  read_skill: readSkillTool,
  read_skill_resource: readSkillResourceTool,
  propose_skill_update: proposeSkillUpdateTool,
  load_skill: loadSkillTool,
  create_skill: createSkillTool,
  skill: skillTool,
};

/** The tools of these names, in that order. @throws INVALID_ARGUMENT. */
export function makeTools(names: readonly string[], registry: SkillsForTools): readonly Tool[] {
  return names.map((name) => {
    const make = Object.hasOwn(MAKERS, name) ? MAKERS[name as ToolName] : undefined;
    if (make) return make(registry);
    throw invalidArgument(`There is no tool ${JSON.stringify(name)}. Tools: ${Object.keys(MAKERS).join(', ')}.`);
  });
}
