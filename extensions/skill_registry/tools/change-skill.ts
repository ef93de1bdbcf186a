import { basename } from 'node:path';
import type { ToolCall, TurnContext } from 'skill-registry/kernel';
import { writeDenied } from '../history/errors.ts';
import type { ProposalReceipt } from '../propose/types.ts';
import type { SkillsForTools } from './skills-for-tools.ts';

/** A change an agent wants, whatever `writes` makes of it. */
export interface WantedChange {
  readonly kind: 'create' | 'update' | 'delete';
  readonly skillId: string;
  /** Relative to the skill. Default: SKILL.md. */
  readonly path?: string;
  /** null: the file is to be removed; a function is given what it is now. Absent for `delete`. */
  readonly content?: string | null | ((present: string) => string);
  /** Shown to whoever reviews it. */
  readonly justification: string;
}

export type Changed =
  | { readonly done: true; readonly revision: number }
  | ({ readonly done: false } & ReceiptForModels);

/**
 * Makes a change (`writes: allow`) or proposes it (`propose`). When this resolves, the catalog knows of it.
 *
 * @throws WRITE_DENIED (`deny`), and as `Management` and `Proposals.propose`.
 */
export async function changeSkill(
  registry: Pick<SkillsForTools, 'config' | 'management' | 'proposals' | 'read' | 'readResource'>,
  { kind, skillId, path = 'SKILL.md', content, justification }: WantedChange,
  { turn }: Pick<ToolCall, 'turn'>,
): Promise<Changed> {
  const mode = registry.config.writes[kind];
  if (mode === 'deny') throw writeDenied(kind);
  if (mode === 'propose') {
    const text = typeof content === 'function' ? content(await presentText(registry, skillId, path, turn)) : content;
    const what =
      kind === 'delete' ? {} : text === null ? { remove: true as const, path } : { content: text ?? '', path };
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

export interface ReceiptForModels {
  readonly proposal_id: string;
  readonly file: string;
  readonly state: string;
}

/** Its report by the place it has below every root: where that lies on this machine is nothing for a model. */
export function receiptForModels({ proposalId, file, state }: ProposalReceipt): ReceiptForModels {
  return { proposal_id: proposalId, file: `data/skill_registry/proposals/${basename(file)}`, state };
}

// --- internal ---

async function presentText(
  registry: Pick<SkillsForTools, 'read' | 'readResource'>,
  skillId: string,
  path: string,
  turn: TurnContext,
): Promise<string> {
  if (path.toLowerCase() !== 'skill.md') return (await registry.readResource(skillId, path, turn)).content;
  return (await registry.read(skillId, { audience: 'model', view: 'raw' }, turn)).content;
}
