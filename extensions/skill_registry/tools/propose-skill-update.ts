import { defineTool, type Tool, z } from 'skill-registry/kernel';
import { receiptForModels } from './change-skill.ts';
import type { SkillsForTools } from './skills-for-tools.ts';

export function proposeSkillUpdateTool(registry: Pick<SkillsForTools, 'proposals'>): Tool {
  return defineTool({
    name: 'propose_skill_update',
    description:
      'Proposes a change to a skill that was wrong or incomplete. A person reviews it; nothing changes before. ' +
      'Read the file as it is first, with its frontmatter if you can, and say what happened that shows the need.',
    input: z.strictObject({
      skill_id: z.string(),
      old_string: z.string().optional().describe('A text that occurs once in the file, exactly.'),
      new_string: z.string().optional().describe('What takes its place.'),
      diff: z.string().optional().describe('Or a unified diff against the file as it is.'),
      content: z.string().optional().describe('Or the whole new text of the file.'),
      path: z.string().optional().describe('Relative to the skill. Default: SKILL.md.'),
      justification: z.string().describe('Why the change is needed.'),
      evidence: z.string().optional().describe('What shows it: errors, failed tests, what the user said.'),
    }),
    async execute({ skill_id: skillId, old_string: oldString, new_string: newString, ...rest }, { turn }) {
      const receipt = await registry.proposals.propose({ skillId, oldString, newString, ...rest }, turn);
      return { success: true, ...receiptForModels(receipt) };
    },
  });
}
