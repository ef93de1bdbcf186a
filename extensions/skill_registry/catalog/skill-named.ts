import type { Skill } from '../skill/skill.ts';
import type { Snapshot } from './snapshot.ts';

/** The skill that has an id, or a qualified one. */
export function skillNamed(
  { byId, byQualifiedId }: Pick<Snapshot, 'byId' | 'byQualifiedId'>,
  id: string,
): Skill | undefined {
  return byId.get(id) ?? byQualifiedId.get(id);
}
