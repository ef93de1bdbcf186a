import { basename } from 'node:path';
import { defineTool, type Tool, type ToolCall, type TurnContext } from 'skill-registry/kernel';
import type { Z } from '../../../../lib/arguments/index.ts';
import { showHidden } from '../../../../lib/text/index.ts';
import { storedText } from '../../core/checked-calls.ts';
import type { SkillRegistryConfig } from '../../core/config/config.ts';
import type { ToolRegistry } from '../../core/seams.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import { newFrontmatter } from '../../core/skill/yaml-fields.ts';
import { writeDenied } from '../history/errors.ts';
import { proposalInput } from './propose/arguments.ts';
import type { ProposalReceipt } from './propose/types.ts';

export interface RequestedChange {
  readonly kind: 'create' | 'update' | 'delete';
  readonly skillId: string;
  /** Relative to the skill. Default: SKILL.md. */
  readonly path?: string;
  /** null removes the file; a function gets the present text. Absent for `delete`. */
  readonly content?: string | null | ((present: string) => string);
  readonly justification: string;
}

/** Of an agent in the config. */
export const NO_PROPOSALS: string = 'this agent does not propose';

export type Changed =
  | { readonly done: true; readonly revision: number }
  | ({ readonly done: false } & ReceiptForModels);

/**
 * Makes the change (`writes: allow`; it is then in the catalog) or proposes it (`propose`).
 *
 * @throws WRITE_DENIED (`deny`), and as `Management` and `Proposals.propose`.
 */
export async function changeSkill(
  registry: Pick<ToolRegistry, 'config' | 'management' | 'proposals'>,
  { kind, skillId, path = 'SKILL.md', content, justification }: RequestedChange,
  { turn }: Pick<ToolCall, 'turn'>,
): Promise<Changed> {
  const mode = registry.config.writes[kind];
  if (mode === 'deny') throw writeDenied(kind);
  if (!mayPropose(registry.config, turn)) throw writeDenied(kind, NO_PROPOSALS);
  if (mode === 'propose') {
    const what =
      kind === 'delete' ? {} : content === null ? { remove: true as const, path } : { content: content ?? '', path };
    const receipt = await registry.proposals.propose({ skillId, kind, justification, ...what }, turn);
    return { done: false, ...receiptForModels(receipt) };
  }
  const actor = { by: turn.agentId ? `agent:${turn.agentId}` : 'unknown', reason: justification };
  const { management } = registry;
  const { number } =
    kind === 'create'
      ? await management.create(skillId, typeof content === 'string' ? content : '', actor)
      : kind === 'delete'
        ? await management.remove(skillId, actor, turn)
        : await management.write(skillId, path, content ?? null, actor, turn);
  return { done: true, revision: number };
}

export function createSkillTool(registry: ToolRegistry, z: Z): Tool {
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
      const content = `${newFrontmatter(skillId, description)}${body.trim()}\n`;
      const change = { kind: 'create', skillId, content, justification } as const;
      const { done, ...rest } = await changeSkill(registry, change, { turn });
      return { success: true, skill_id: skillId, state: 'created', ...rest };
    },
  });
}

export function proposeSkillUpdateTool(registry: Pick<ToolRegistry, 'proposals'>, z: Z): Tool {
  const { skillId, oldString, newString, diff, path, justification, evidence } = proposalInput().shape;
  return defineTool({
    name: 'propose_skill_update',
    description:
      'Proposes a change to a skill that was wrong or incomplete. A person reviews it; nothing changes before. ' +
      'Read the file as it is first, with its frontmatter if you can, and say what happened that shows the need.',
    input: z.strictObject({
      skill_id: skillId,
      old_string: oldString,
      new_string: newString,
      diff,
      content: storedText().optional().describe('Or the whole new text of the file.'),
      path,
      justification,
      evidence,
    }),
    async execute({ skill_id: skillId, old_string: oldString, new_string: newString, ...rest }, { turn }) {
      const receipt = await registry.proposals.propose({ skillId, oldString, newString, ...rest }, turn);
      return { success: true, ...receiptForModels(receipt) };
    },
  });
}

/** Only for the proposals of the agent that asks. */
export function listProposalsTool(
  { proposals, takenProposals }: Pick<ToolRegistry, 'proposals' | 'takenProposals'>,
  z: Z,
): Tool {
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
      const here = own.map(({ decision, ...one }) => ({ ...one, decidedBy: decision?.by, reason: decision?.reason }));
      const { proposals: taken, away } = await takenProposals(turn.agentId, skillId);
      const rows = [...taken, ...here]
        .slice(0, limit)
        .map(({ id, skillId: skill_id, state, decidedBy, reason, ...one }) => ({
          proposal_id: id,
          skill_id,
          state,
          decided_by: visibleText(decidedBy),
          reason: visibleText(reason),
          ...('message' in one && one.message !== undefined && { message: one.message }),
        }));
      return { success: true, proposals: rows, ...(away.length > 0 ? { sources_away: away } : {}) };
    },
  });
}

/** False for an agent of the config that may ask for no change. */
export function mayPropose({ agents }: Pick<SkillRegistryConfig, 'agents'>, { agentId = '' }: TurnContext): boolean {
  return !Object.hasOwn(agents, agentId) || agents[agentId]?.proposes !== false;
}

// --- internal ---

interface ReceiptForModels {
  readonly proposal_id: string;
  readonly file: string;
  readonly state: string;
  readonly message?: string;
  readonly warning?: string;
}

/** With a path relative to the root: a model must not get the path of the root. */
function receiptForModels({ proposalId, file, ...rest }: ProposalReceipt): ReceiptForModels {
  const shown = /^https?:/.test(file) ? file : `data/skill_registry/proposals/${basename(file)}`;
  return { proposal_id: proposalId, file: shown, ...rest };
}

function visibleText(text: string | null = null): string | null {
  return text && showHidden(text);
}
