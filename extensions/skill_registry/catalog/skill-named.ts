import type { Skill, Snapshot } from '../api.ts';

/** The skill that has an id, or a qualified one. */
export function skillNamed(
  { byId, byQualifiedId }: Pick<Snapshot, 'byId' | 'byQualifiedId'>,
  id: string,
): Skill | undefined {
  return byId.get(id) ?? byQualifiedId.get(id);
}
