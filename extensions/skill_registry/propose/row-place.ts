import type { ChangeContext } from '../history/change-context.ts';
import { rowRefused } from '../history/errors.ts';
import { keyOf, type Place, placeOfKey, placeOfSkill } from '../history/places.ts';
import { skillNotFound } from '../skill/errors.ts';
import type { ProposalRow } from './proposal-store.ts';

/**
 * Where a proposal is to be applied now: in the folder it was made for, whoever has the id today.
 *
 * @throws SKILL_NOT_FOUND when the skill has gone, SOURCE_NOT_WRITABLE.
 */
export function placeOfRow(
  context: ChangeContext,
  row: Pick<ProposalRow, 'kind' | 'skill_id' | 'place' | 'source'>,
): Place {
  if (row.kind === 'create') return placeOfNew(context, row);
  const there = [...context.snapshot().byQualifiedId.values()].filter((one) => keyOf(one, context.root) === row.place);
  // Two sources may have the same folder, and one of them may not be written.
  const skill = there.find(({ source }) => source === row.source) ?? there[0];
  if (!skill) throw skillNotFound(row.skill_id, []);
  return placeOfSkill(skill, context.sources(), context.root);
}

// --- internal ---

type NewRow = Pick<ProposalRow, 'skill_id' | 'place' | 'source'>;

function placeOfNew(context: ChangeContext, { skill_id: skillId, place: key, source: id }: NewRow): Place {
  const place = placeOfKey(skillId, key, { sources: context.sources(), root: context.root }, id);
  // A new skill is made directly below its source, under its id.
  if (place.below === skillId) return place;
  throw rowRefused(`a proposal to make ${JSON.stringify(skillId)} in ${JSON.stringify(key)}`);
}
