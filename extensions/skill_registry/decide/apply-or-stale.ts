import { isCodedError } from 'skill-registry/kernel';
import { createBreaks } from '../../../lib/breaks/index.ts';
import { applyDiff, mergeTexts } from '../../../lib/diff/index.ts';
import { digestOf } from '../../../lib/digest/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { rowRefused } from '../history/errors.ts';
import { presentFiles } from '../history/inspected-change.ts';
import { checkedPath } from '../history/journal-entries.ts';
import { getBlob } from '../history/revisions.ts';
import {
  bytesAt,
  checkSize,
  checkValid,
  folderExists,
  folderOf,
  locationOfKey,
  locationOfSkill,
  type SkillLocation,
  skillKey,
  skillsAt,
} from '../history/skill-location.ts';
import { readFolderTree, treeDigest } from '../history/skill-tree.ts';
import type { InspectedFile } from '../inspect/types.ts';
import { type ProposalRow, skillGone } from '../propose/proposal-store.ts';
import { diffOf } from '../propose/propose.ts';
import { skillNotFound } from '../skill/errors.ts';
import type { Skill } from '../skill/skill.ts';
import type { SqliteDatabase } from '../store/open-database.ts';

export type Plan = ApplyPlan | StalePlan;

export interface ApplyPlan {
  readonly location: SkillLocation;
  readonly after: Buffer | null;
  readonly merged: boolean;
  /** null: it is not there. */
  readonly current: Buffer | null;
}

export interface StalePlan {
  /** A sentence. */
  readonly stale: string;
  /** Has marks where both sides changed the same lines; else empty. */
  readonly conflict: string;
  /** null: it is not there. Absent where there is no text to edit. */
  readonly current?: Buffer | null;
}

/** @throws SKILL_INVALID, SOURCE_NOT_WRITABLE, RESOURCE_TOO_LARGE, PATH_TRAVERSAL, HISTORY_ROW_REFUSED. */
export function planOf(context: ChangeContext, database: SqliteDatabase, row: ProposalRow): Plan {
  const plan = compare(createPresent(context), database, row, assertAsShown);
  if (!('stale' in plan) && plan.after !== null) {
    checkSize(plan.location, row.path, plan.after, context.limits);
    checkValid(plan.location, row.path, plan.current, plan.after);
  }
  return plan;
}

/** As `planOf`, without checking the result. @throws as `planOf`, except SKILL_INVALID. */
export function comparePresent(context: ChangeContext, database: SqliteDatabase, row: ProposalRow): Plan {
  return compare(createPresent(context), database, row);
}

/** The files of the skill as an approval leaves them, for an inspection. @throws RESOURCE_NOT_FOUND. */
export function filesAfter(
  context: ChangeContext,
  { kind, path: changed, source }: ProposalRow,
  { location: { key, skillFile }, after }: ApplyPlan,
): FilesAfter {
  const skill = kind === 'create' ? undefined : skillIn(context, key, source);
  if (kind === 'delete') return { skill, files: [] };
  const path = changed === skillFile ? 'SKILL.md' : changed;
  const others = skill ? presentFiles(context, skill).filter((file) => file.path !== path) : [];
  return { skill, files: [...(after ? [{ path, bytes: after }] : []), ...others] };
}

export interface FilesAfter {
  /** As it is now; undefined for a new one. */
  readonly skill: Skill | undefined;
  readonly files: readonly InspectedFile[];
}

/** Sets `open` or `stale` by the present skill; stores nothing. If it cannot be compared, the state stays. */
export async function withPresentState(
  context: ChangeContext,
  database: SqliteDatabase,
  rows: readonly ProposalRow[],
): Promise<readonly ProposalRow[]> {
  const present = createPresent(context);
  const takeBreak = createBreaks();
  const found: ProposalRow[] = [];
  for (const row of rows) {
    await takeBreak();
    found.push(presentState(present, database, row));
  }
  return found;
}

/** As the proposal names it, even if another skill has the id now. @throws SKILL_NOT_FOUND, SOURCE_NOT_WRITABLE. */
export function locationOfRow(context: ChangeContext, row: ProposalRow): SkillLocation {
  const { kind, skill_id: skillId, place: key, source } = row;
  const [{ root }, sources] = [context, context.sources()];
  if (kind === 'create') {
    const location = locationOfKey(skillId, key, { sources, root }, source);
    // A new skill is made directly below its source, under its id.
    if (location.below === skillId) return location;
    throw rowRefused(`a proposal to make ${JSON.stringify(skillId)} in ${JSON.stringify(key)}`);
  }
  const { byId } = context.snapshot();
  const named = byId.get(skillId);
  if (named && named.source === source && skillKey(named, root) === key) return locationOfSkill(named, sources, root);
  const skill = skillIn(context, key, source);
  if (!skill) throw skillNotFound(skillId, []);
  return locationOfSkill(skill, sources, root);
}

// --- internal ---

/** By its folder: another skill may have the id now, and two sources may have the same folder. */
function skillIn({ root, snapshot }: ChangeContext, key: string, source: string): Skill | undefined {
  const there = skillsAt(key, snapshot().byQualifiedId.values(), root);
  return there.find((skill) => skill.source === source) ?? there[0];
}

interface Present {
  readonly context: ChangeContext;
  bytesAt(location: SkillLocation, path: string): Buffer | null;
  treeDigest(location: SkillLocation): string;
}

function createPresent(context: ChangeContext): Present {
  const { limits } = context;
  const files = new Map<string, Buffer | null>();
  const trees = new Map<string, string>();
  return {
    context,
    bytesAt: (location, path) =>
      cached(files, JSON.stringify([location.base, location.below, path]), () => bytesAt(location, path, limits)),
    treeDigest: (location) =>
      cached(trees, folderOf(location), () => treeDigest(readFolderTree(folderOf(location), limits.file_bytes).files)),
  };
}

function presentState(present: Present, database: SqliteDatabase, row: ProposalRow): ProposalRow {
  if (row.state !== 'open' && row.state !== 'stale') return row;
  try {
    // During an unfinished change the files may already have the proposed content.
    present.context.writer.assertFinished(row.place);
    const plan = compare(present, database, row);
    if (!('stale' in plan)) return { ...row, state: 'open', conflict: null };
    return { ...row, state: 'stale', conflict: plan.conflict || plan.stale };
  } catch {
    // `approve` throws the reason.
    return row;
  }
}

function compare(
  present: Present,
  database: SqliteDatabase,
  row: ProposalRow,
  assertShown?: typeof assertAsShown,
): Plan {
  let location: SkillLocation;
  try {
    location = locationOfRow(present.context, row);
  } catch (error) {
    if (!isCodedError(error, 'SKILL_NOT_FOUND')) throw error;
    return { stale: skillGone(row.skill_id), conflict: '' };
  }
  if (row.kind === 'delete') {
    if (present.treeDigest(location) !== row.base) return { stale: 'the skill has changed since.', conflict: '' };
    return { location, after: null, merged: false, current: null };
  }
  const isNew = row.kind === 'create';
  const isTaken = isNew && (folderExists(location) || present.context.snapshot().byId.has(row.skill_id));
  if (isTaken) return { stale: `a skill "${row.skill_id}" exists now.`, conflict: '' };
  const current = isNew ? null : present.bytesAt(location, checkedPath(row.path, location));
  const blobOf = (digest: string | null): Buffer | null => (digest === null ? null : getBlob(database, digest));
  const base = once(() => (current && digestOf(current) === row.base ? current : blobOf(row.base)));
  const proposed = once(() => blobOf(row.proposed));
  assertShown?.(row, location, base(), proposed());
  return compareFile(row, location, { current, base, proposed });
}

/** The approving person has seen the diff, so it must be what is written. */
function assertAsShown(
  { kind, path, diff, skill_id }: ProposalRow,
  { skillFile }: SkillLocation,
  before: Buffer | null,
  after: Buffer | null,
): void {
  if (path === skillFile ? after === null : kind === 'create')
    throw rowRefused(`a proposal for ${JSON.stringify(skill_id)} that leaves it without SKILL.md`);
  if (diff === diffOf({ kind, path, before, after })) return;
  // An earlier release may have written the diff in another form.
  const outcome = applyDiff(before?.toString('utf8') ?? '', diff, path, skill_id);
  if (!outcome.applied || after === null || !after.equals(Buffer.from(outcome.text)))
    throw rowRefused(`a proposal for ${JSON.stringify(skill_id)} whose diff is not what would be written`);
}

interface Texts {
  readonly current: Buffer | null;
  base(): Buffer | null;
  proposed(): Buffer | null;
}

function compareFile(
  { path, base, proposed: digest }: ProposalRow,
  location: SkillLocation,
  { current, base: readBase, proposed: readProposed }: Texts,
): Plan {
  const stale = (reason: string, conflict = ''): StalePlan => {
    const cut = conflict.length > MAX_CONFLICT ? `${conflict.slice(0, MAX_CONFLICT)}\n... (cut)` : conflict;
    return { stale: reason, conflict: cut, ...(digest === null ? {} : { current }) };
  };
  const now = current && digestOf(current);
  if (now === digest) return stale(`"${path}" has this content already.`);
  const proposed = readProposed();
  if (now === base) return { location, after: proposed, merged: false, current };
  if (current === null) return stale(`"${path}" does not exist any more.`);
  if (proposed === null) return stale(`"${path}" has changed since.`);
  const before = readBase();
  const merge = mergeTexts(before?.toString('utf8') ?? '', current.toString('utf8'), proposed.toString('utf8'));
  if (before === null)
    return stale(`"${path}" has been created by somebody else since.`, merge.clean ? '' : merge.conflict);
  if (merge.clean) return { location, after: Buffer.from(merge.text), merged: true, current };
  return stale(`"${path}" has changed since, in the same lines.`, merge.conflict);
}

/** Characters. Two texts without a common line are one long conflict. */
const MAX_CONFLICT = 20_000;

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function cached<T>(values: Map<string, T>, key: string, make: () => T): T {
  if (!values.has(key)) values.set(key, make());
  return values.get(key) as T;
}
