import { randomBytes } from 'node:crypto';
import { isCodedError } from 'skill-registry/kernel';
import type { SqliteDatabase } from '../open-database.ts';
import { digestOf, getBlob } from './blobs.ts';
import { mergeTexts } from './merge-text.ts';
import { folderOf, type Place } from './places.ts';
import { addEvent, type ProposalRow } from './proposal-store.ts';
import { checkValid } from './propose.ts';
import { placeOfRow } from './row-place.ts';
import { readFolderTree, treeDigest } from './skill-tree.ts';
import { bytesAt, checkSize, isThere, type Shelf } from './targets.ts';
import type { Actor, Revision } from './types.ts';
import type { Draft, Writer } from './writer.ts';

/** What approving a proposal would do to the skill as it is now. */
export type Plan =
  | { readonly place: Place; readonly after: Buffer | null; readonly merged: boolean }
  /** It does not apply: why, and where both changed the same lines. */
  | { readonly stale: string; readonly conflict: string };

/** @throws SKILL_INVALID, SOURCE_NOT_WRITABLE, RESOURCE_TOO_LARGE, PATH_TRAVERSAL. */
export function planOf(shelf: Shelf, database: SqliteDatabase, row: ProposalRow): Plan {
  const place = placeIfThere(shelf, row);
  if (place === undefined) return stale(`the skill "${row.skill_id}" is not there any more.`);
  const proposed = row.proposed === null ? null : getBlob(database, row.proposed);
  if (row.kind === 'create') {
    const isTaken = isThere(place) || shelf.snapshot().byId.has(row.skill_id);
    return isTaken ? stale(`there is a "${row.skill_id}" by now.`) : { place, after: proposed, merged: false };
  }
  if (row.kind === 'delete') {
    const tree = readFolderTree(folderOf(place), shelf.limits.file_bytes);
    if (treeDigest(tree.files) !== row.base)
      return stale('the skill has changed since; look at it again before it goes.');
    return { place, after: null, merged: false };
  }
  const current = bytesAt(place, row.path, shelf.limits);
  const plan = planOfFile(database, row, place, current, proposed);
  if (!('stale' in plan) && plan.after !== null) {
    checkSize(place, row.path, plan.after, shelf.limits);
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
    ...(row.kind === 'delete' ? { move: { direction: 'out', folder: archiveFolder(place) } as const } : {}),
  };
  const revision = writer.apply(draft);
  if (merged) addEvent(writer.database(), row.id, 'merged', { by, at: writer.now() });
  return revision;
}

/** Where a skill that is removed goes, relative to the data folder. */
export function archiveFolder({ skillId }: Place): string {
  const name = skillId.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 80);
  return `.archive/${name}-${randomBytes(6).toString('hex')}`;
}

// --- internal ---

function placeIfThere(shelf: Shelf, row: ProposalRow): Place | undefined {
  try {
    return placeOfRow(shelf, row);
  } catch (error) {
    if (isCodedError(error, 'SKILL_NOT_FOUND')) return undefined;
    throw error;
  }
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
