import { defineTool, type Tool, z } from 'skill-registry/kernel';
import type { SkillsForTools } from './skills-for-tools.ts';

export function readSkillTool(registry: Pick<SkillsForTools, 'read'>): Tool {
  return defineTool({
    name: 'read_skill',
    description:
      'Loads the full instructions of one skill and lists its files, which read_skill_resource reads. ' +
      'Do this before you act whenever a skill fits the task.',
    input: z.strictObject({
      skill_id: z.string().describe('The id as it stands in the list of available skills.'),
      view: z.enum(['body', 'raw']).optional().describe('raw: with the frontmatter. Default: body.'),
    }),
    execute: async ({ skill_id, view }, { turn }) => {
      const skill = await registry.read(skill_id, { audience: 'model', ...(view ? { view } : {}) }, turn);
      return { success: true, ...skill };
    },
  });
}
