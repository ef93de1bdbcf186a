import { defineTool, type Tool, z } from 'skill-registry/kernel';
import type { SkillsForTools } from './skills-for-tools.ts';

export function readSkillResourceTool(registry: Pick<SkillsForTools, 'readResource'>): Tool {
  return defineTool({
    name: 'read_skill_resource',
    description:
      'Reads one file of a skill: a template, a reference, a checklist. Scripts are given as text, never run.',
    input: z.strictObject({
      skill_id: z.string().describe('The id of the skill the file belongs to.'),
      path: z.string().describe('Relative to the skill, as read_skill lists it: references/guide.md'),
    }),
    execute: async ({ skill_id, path }, { turn }) => ({
      success: true,
      ...(await registry.readResource(skill_id, path, turn)),
    }),
  });
}
