import { defineTool, type Tool, z } from 'skill-registry/kernel';
import { showHidden } from '../../../lib/text/index.ts';
import { invalidArgument } from '../skill/errors.ts';
import type { SkillsForTools } from './skills-for-tools.ts';

/** Lists only the proposals of the agent that asks. */
export function listProposalsTool({ proposals }: Pick<SkillsForTools, 'proposals'>): Tool {
  return defineTool({
    name: 'list_proposals',
    description:
      'What became of the changes you proposed, newest first. A rejection has its reason; "stale" means that the skill has changed since.',
    input: z.strictObject({
      skill_id: z.string().optional().describe('Only those for this skill.'),
      limit: z.int().min(1).max(100).default(20).describe('At most this many.'),
    }),
    async execute({ skill_id: skillId, limit }, { turn }) {
      if (turn.agentId === undefined)
        throw invalidArgument('list_proposals shows an agent its own proposals, and this caller is no agent.');
      const author = `agent:${turn.agentId}`;
      const own = await proposals.list('all', { author, skillId, limit });
      const rows = own.map(({ id, skillId: skill_id, state, decision }) => ({
        ...{ proposal_id: id, skill_id, state },
        ...{ decided_by: visibleText(decision?.by), reason: visibleText(decision?.reason) },
      }));
      return { success: true, proposals: rows };
    },
  });
}

// --- internal ---

function visibleText(text: string | null = null): string | null {
  return text && showHidden(text);
}
