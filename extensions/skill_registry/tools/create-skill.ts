import { defineTool, type Tool, z } from 'skill-registry/kernel';
import { composeSkillMd } from '../propose/skill-text.ts';
import { changeSkill } from './change-skill.ts';
import type { SkillsForTools } from './skills-for-tools.ts';

export function createSkillTool(registry: SkillsForTools): Tool {
  return defineTool({
    name: 'create_skill',
    description:
      'Makes a new skill from what was learnt, or proposes it for review. Look first whether one exists that could be changed instead.',
    input: z.strictObject({
      skill_id: z.string().describe('Its name: lower-case letters, digits and hyphens.'),
      description: z.string().describe('What it does and when to use it; this is all other agents see of it.'),
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
