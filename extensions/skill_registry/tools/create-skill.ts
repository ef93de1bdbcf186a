import { defineTool, type Tool, z } from 'skill-registry/kernel';
import { composeSkillMd } from '../propose/skill-text.ts';
import { changeSkill } from './change-skill.ts';
import type { SkillsForTools } from './skills-for-tools.ts';

export function createSkillTool(registry: SkillsForTools): Tool {
  return defineTool({
    name: 'create_skill',
    description:
      'Creates a new skill from what you learnt, or proposes it for review. First look for an existing skill to change instead.',
    input: z.strictObject({
      skill_id: z.string().describe('Its name: lower-case letters, digits and hyphens.'),
      description: z
        .string()
        .describe('What it does and when to use it. Other agents see only this before they load it.'),
      body: z.string().describe('The instructions, in markdown.'),
      justification: z.string().describe('Why it is worth having.'),
    }),
    execute: async ({ skill_id: skillId, description, body, justification }, { turn }) => {
      const content = composeSkillMd(skillId, description, body);
      const changed = await changeSkill(registry, { kind: 'create', skillId, content, justification }, { turn });
      const { done, ...rest } = changed;
      return { success: true, skill_id: skillId, ...rest, state: changed.done ? 'created' : changed.state };
    },
  });
}
