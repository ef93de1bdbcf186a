import { basename } from 'node:path';
import type { ToolCall } from 'skill-registry/kernel';
import { writeDenied } from '../history/errors.ts';
import type { ProposalReceipt } from '../propose/types.ts';
import type { SkillsForTools } from './skills-for-tools.ts';

/** A change that an agent asks for. */
export interface RequestedChange {
  readonly kind: 'create' | 'update' | 'delete';
  readonly skillId: string;
  /** Relative to the skill. Default: SKILL.md. */
  readonly path?: string;
  /** null removes the file; a function is called with the present text. Absent for `delete`. */
  readonly content?: string | null | ((present: string) => string);
  /** Shown to the reviewer. */
  readonly justification: string;
}

export type Changed =
  | { readonly done: true; readonly revision: number }
  | ({ readonly done: false } & ReceiptForModels);

/**
 * Makes a change (`writes: allow`) or proposes it (`propose`). When this resolves, a change that was made is in the catalog.
 *
 * @throws WRITE_DENIED (`deny`), and as `Management` and `Proposals.propose`.
 */
export async function changeSkill(
  registry: Pick<SkillsForTools, 'config' | 'management' | 'proposals'>,
  { kind, skillId, path = 'SKILL.md', content, justification }: RequestedChange,
  { turn }: Pick<ToolCall, 'turn'>,
): Promise<Changed> {
  const mode = registry.config.writes[kind];
  if (mode === 'deny') throw writeDenied(kind);
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

export interface ReceiptForModels {
  readonly proposal_id: string;
  readonly file: string;
  readonly state: string;
}

/** The receipt with the path of the report relative to the root, because a model must not get the path of the root. */
export function receiptForModels({ proposalId, file, state }: ProposalReceipt): ReceiptForModels {
  return { proposal_id: proposalId, file: `data/skill_registry/proposals/${basename(file)}`, state };
}
