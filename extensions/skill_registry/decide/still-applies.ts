import { isCodedError } from 'skill-registry/kernel';
import { applyDiff, mergeTexts } from '../../../lib/diff/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { rowRefused } from '../history/errors.ts';
import { archiveFolder, checkedPath } from '../history/journal-entries.ts';
import {
  bytesAt,
  checkSize,
  checkValid,
  folderOf,
  isThere,
  keyOf,
  type Place,
  placeOfKey,
  placeOfSkill,
} from '../history/places.ts';
import { getBlob } from '../history/revisions.ts';
import { digestOf, readFolderTree, treeDigest } from '../history/skill-tree.ts';
import type { Actor, Revision } from '../history/types.ts';
import type { Draft, Writer } from '../history/writer.ts';
import type { ProposalRow } from '../propose/proposal-store.ts';
import { diffOf } from '../propose/propose.ts';
import { skillNotFound } from '../skill/errors.ts';
import type { SqliteDatabase } from '../store/open-database.ts';

/** What approving a proposal would do to the skill as it is now. */
export type Plan =
  | { readonly place: Place; readonly after: Buffer | null; readonly merged: boolean }
  /** It does not apply: why, and where both changed the same lines. */
  | { readonly stale: string; readonly conflict: string };

/**
 * @throws SKILL_INVALID, SOURCE_NOT_WRITABLE, RESOURCE_TOO_LARGE, PATH_TRAVERSAL; HISTORY_ROW_REFUSED when it would do something
 *   else than it shows.
 */
export function planOf(context: ChangeContext, database: SqliteDatabase, row: ProposalRow): Plan {
  const place = placeIfThere(context, row);
  if (place === undefined) return stale(`the skill "${row.skill_id}" is not there any more.`);
  const proposed = row.proposed === null ? null : getBlob(database, row.proposed);
  if (row.kind === 'delete') {
    const tree = readFolderTree(folderOf(place), context.limits.file_bytes);
    if (treeDigest(tree.files) !== row.base)
      return stale('the skill has changed since; look at it again before it goes.');
    return { place, after: null, merged: false };
  }
  const isNew = row.kind === 'create';
  const isTaken = isNew && (isThere(place) || context.snapshot().byId.has(row.skill_id));
  if (isTaken) return stale(`there is a "${row.skill_id}" by now.`);
  const current = isNew ? null : bytesAt(place, checkedPath(row.path, place), context.limits);
  const base =
    current && digestOf(current) === row.base ? current : row.base === null ? null : getBlob(database, row.base);
  assertAsShown(row, place, base, proposed);
  const plan = planOfFile(database, row, place, current, proposed);
  if (!('stale' in plan) && plan.after !== null) {
    checkSize(place, row.path, plan.after, context.limits);
    checkValid(place, row.path, current, plan.after);
  }
  return plan;
}

/** Inside `exclusively`. */
export function applyPlan(
  writer: Writer,
  row: ProposalRow,
  { place, after, merged }: Exclude<Plan, { stale: string }>,
  { by, reason }: Actor,
): Revision {
  const draft: Draft = {
    place,
    changes: row.kind === 'delete' ? [] : [{ path: row.path, after }],
    kind: row.kind === 'delete' ? 'removed' : 'proposal',
    by,
    reason,
    proposal: row.id,
    merged,
    ...(row.kind === 'delete' ? { move: { direction: 'out', folder: archiveFolder(place) } as const } : {}),
  };
  return writer.apply(draft);
}

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

function placeIfThere(context: ChangeContext, row: ProposalRow): Place | undefined {
  try {
    return placeOfRow(context, row);
  } catch (error) {
    if (isCodedError(error, 'SKILL_NOT_FOUND')) return undefined;
    throw error;
  }
}

/** Whoever approves has seen the diff, so it must be what is written. */
function assertAsShown(
  { kind, path, diff, skill_id }: ProposalRow,
  { skillFile }: Place,
  before: Buffer | null,
  after: Buffer | null,
): void {
  if (path === skillFile ? after === null : kind === 'create')
    throw rowRefused(`a proposal for ${JSON.stringify(skill_id)} that leaves it without SKILL.md`);
  if (diff === diffOf({ kind, path, before, after })) return;
  // A person may have written it otherwise.
  const outcome = applyDiff(before?.toString('utf8') ?? '', diff, path, skill_id);
  if (!outcome.applied || after === null || !after.equals(Buffer.from(outcome.text)))
    throw rowRefused(`a proposal for ${JSON.stringify(skill_id)} whose diff is not what would be written`);
}

function planOfFile(
  database: SqliteDatabase,
  { path, base, proposed: digest }: ProposalRow,
  place: Place,
  current: Buffer | null,
  proposed: Buffer | null,
): Plan {
  const now = current && digestOf(current);
  if (now === base) return { place, after: proposed, merged: false };
  if (now === digest) return stale(`"${path}" has this content already.`);
  if (current === null) return stale(`"${path}" is not there any more.`);
  if (base === null) return stale(`"${path}" has been made by somebody else meanwhile.`);
  if (proposed === null) return stale(`"${path}" has changed since; look at it again before it goes.`);
  const [before, here, wanted] = [getBlob(database, base), current, proposed].map((bytes) => bytes.toString('utf8'));
  const merge = mergeTexts(before ?? '', here ?? '', wanted ?? '');
  if (merge.clean) return { place, after: Buffer.from(merge.text), merged: true };
  return stale(`"${path}" has changed since, in the same lines.`, merge.conflict);
}

/** Texts that have nothing in common are one conflict from top to end. */
const MAX_CONFLICT = 20_000;

function stale(reason: string, conflict = ''): Plan {
  const cut = conflict.length > MAX_CONFLICT ? `${conflict.slice(0, MAX_CONFLICT)}\n... (cut)` : conflict;
  return { stale: reason, conflict: cut };
}

type NewRow = Pick<ProposalRow, 'skill_id' | 'place' | 'source'>;

function placeOfNew(context: ChangeContext, { skill_id: skillId, place: key, source: id }: NewRow): Place {
  const place = placeOfKey(skillId, key, { sources: context.sources(), root: context.root }, id);
  // A new skill is made directly below its source, under its id.
  if (place.below === skillId) return place;
  throw rowRefused(`a proposal to make ${JSON.stringify(skillId)} in ${JSON.stringify(key)}`);
}
