import type { TurnContext } from 'skill-registry/kernel';
import type { SkillRegistry } from './core/api.ts';

interface TriedSkill {
  readonly skillId: string;
  readonly because: string | null;
  readonly line: string | null;
  readonly place: number | null;
  readonly total: number;
  readonly content: string | null;
  readonly approxTokens: number | null;
}

/**
 * What an agent would be given of a skill for a question; nothing of it is recorded. `because`: why it is given
 * nothing. `place`: in a search for the question. @throws SKILL_NOT_FOUND.
 */
export async function trySkill(
  registry: SkillRegistry,
  id: string,
  question: string,
  agent: TurnContext,
): Promise<TriedSkill> {
  // For a person: finds out as well whether it is held.
  const { skillId } = await registry.read(id);
  const turn = { ...agent, preview: true } as const;
  const { byId, byQualifiedId } = registry.snapshot();
  const { qualifiedId } = byId.get(id) ?? byQualifiedId.get(id) ?? {};
  const seen = (await registry.admin.whoSees([turn])).find(({ skill }) => skill.qualifiedId === qualifiedId);
  const because = seen?.views.at(-1)?.because ?? null;
  await registry.admin.prepareQuery(question, turn);
  const names = [`• \`${skillId}\``, `>${skillId}<`];
  const text = because === null ? await registry.context(question, turn) : null;
  const line = text?.split('\n').find((one) => names.some((name) => one.includes(name))) ?? null;
  const { skills, total } = registry.list({ query: question, limit: 200 }, turn);
  const place = 1 + skills.findIndex((one) => one.skillId === skillId);
  const body = because === null ? await registry.read(id, { audience: 'model' }, turn) : undefined;
  const { content = null, approxTokens = null } = body ?? {};
  return { skillId, because, line, place: place || null, total, content, approxTokens };
}
