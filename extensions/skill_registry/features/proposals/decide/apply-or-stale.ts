import { CodedError } from 'skill-registry/kernel';
import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { mergeTexts } from '../../../../../lib/diff/index.ts';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { unlessCoded } from '../../../../../lib/errors/index.ts';
import { showHidden } from '../../../../../lib/text/index.ts';
import { invalidArgument, skillNotFound } from '../../../core/skill/errors.ts';
import type { Skill } from '../../../core/skill/skill.ts';
import type { ChangeContext } from '../../history/change-context.ts';
import { rowRefused } from '../../history/errors.ts';
import { afterChanges, type FilesAfter } from '../../history/inspected-change.ts';
import { checkedPath } from '../../history/journal/journal-entries.ts';
import { getBlob } from '../../history/revisions.ts';
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
} from '../../history/skill-location.ts';
import { readFolderTree, treeDigest } from '../../history/skill-tree.ts';
import { applyDiff } from '../diff/apply-diff.ts';
import { isWaiting } from '../propose/describe.ts';
import { type ProposalRow, skillGone } from '../propose/proposal-store.ts';
import { diffOf } from '../propose/propose.ts';
import type { ProposedFile } from '../propose/types.ts';

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
export function planOf(context: ChangeContext, row: ProposalRow): Plan {
  const plan = comparePresent(context, row, undefined, assertAsShown);
  if (!('stale' in plan) && plan.after !== null) {
    checkSize(plan.location, row.path, plan.after, context.limits);
    checkValid(plan.location, row.path, plan.current, plan.after);
  }
  return plan;
}

/**
 * As `planOf`, without checking the result. @throws as `planOf`, except SKILL_INVALID.
 * @param assertShown - Called with the texts before and after.
 */
export function comparePresent(
  context: ChangeContext,
  row: ProposalRow,
  readOnce: ReadOnce = (_key, read) => read(),
  assertShown?: typeof assertAsShown,
): Plan {
  const location = unlessCoded(() => locationOfRow(context, row), undefined, 'SKILL_NOT_FOUND');
  if (!location) return { stale: skillGone(row.skill_id), conflict: '' };
  const { limits } = context;
  const folder = folderOf(location);
  if (row.kind === 'delete') {
    const digest = readOnce(folder, () => treeDigest(readFolderTree(folder, limits.file_bytes).files));
    if (digest !== row.base) return { stale: 'the skill has changed since.', conflict: '' };
    return { location, after: null, merged: false, current: null };
  }
  const isNew = row.kind === 'create';
  const isTaken = isNew && (folderExists(location) || context.snapshot().byId.has(row.skill_id));
  if (isTaken) return { stale: `a skill "${row.skill_id}" exists now.`, conflict: '' };
  const path = checkedPath(row.path, location);
  const current = isNew ? null : readOnce(`${folder}\0${path}`, () => bytesAt(location, path, limits));
  const blobOf = (digest: string | null): Buffer | null =>
    digest === null ? null : getBlob(context.writer.database(), digest);
  const before = current && digestOf(current) === row.base ? current : blobOf(row.base);
  const proposed = blobOf(row.proposed);
  assertShown?.(row, location, before, proposed);
  return compareFile(row, location, { current, before, proposed });
}

export function filesAfter(context: ChangeContext, row: ProposalRow, { location, after }: ApplyPlan): FilesAfter {
  const skill = row.kind === 'create' ? undefined : skillOf(context, row);
  const changed = afterChanges(context, location.key, skill, [{ path: row.path, after }]);
  return row.kind === 'delete' ? { ...changed, files: () => [] } : changed;
}

/** @throws PROPOSAL_STALE; INVALID_ARGUMENT when a skill is to be deleted. */
export function fileAfter(context: ChangeContext, row: ProposalRow): ProposedFile {
  const plan = planOf(context, row);
  if ('stale' in plan) throw staleError(row.id, plan);
  if (row.kind === 'delete')
    throw invalidArgument('It deletes a whole skill: approve it, or remove the folder with git.');
  const { location, current: before, after } = plan;
  return { folder: folderOf(location), path: checkedPath(row.path, location), before, after };
}

/** By its folder: another skill may have the id now, and two sources may have the same folder. */
export function skillOf({ root, snapshot }: ChangeContext, { place, source }: ProposalRow): Skill | undefined {
  const there = skillsAt(place, snapshot().byQualifiedId.values(), root);
  return there.find((skill) => skill.source === source) ?? there[0];
}

/** Sets `open` or `stale` by the present skill; stores nothing. If it cannot be compared, the state stays. */
export async function withPresentState(
  context: ChangeContext,
  rows: readonly ProposalRow[],
): Promise<readonly ProposalRow[]> {
  const readOnce = createReadOnce();
  const found: ProposalRow[] = [];
  for (const row of rows) {
    await takeBreak();
    found.push(presentState(context, row, readOnce).row);
  }
  return found;
}

/** As `withPresentState`. `plan`: of a proposal that applies. */
export function presentState(
  context: ChangeContext,
  row: ProposalRow,
  readOnce?: ReadOnce,
): { readonly row: ProposalRow; readonly plan?: ApplyPlan } {
  if (!isWaiting(row)) return { row };
  try {
    // During an unfinished change the files may already have the proposed content.
    context.writer.assertFinished(row.place);
    const plan = comparePresent(context, row, readOnce);
    if (!('stale' in plan)) return { row: { ...row, state: 'open', conflict: null }, plan };
    return { row: { ...row, state: 'stale', conflict: plan.conflict || plan.stale } };
  } catch {
    // `approve` throws the reason.
    return { row };
  }
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
  const skill = skillOf(context, row);
  if (!skill) throw skillNotFound(skillId);
  return locationOfSkill(skill, sources, root);
}

/** @param edit - What opens its text. */
export function staleError(
  id: string,
  { stale, conflict, current }: StalePlan,
  edit: string = `\`skill-registry proposals edit ${id}\``,
): CodedError {
  const remedy =
    current === undefined
      ? 'Reject it, and make a new proposal if it is still wanted.'
      : `${edit} opens its text with both sides of the conflict. Or reject it, and make a new proposal.`;
  const message = `The proposal ${id} is stale: ${stale} ${remedy}\n${showHidden(conflict)}`;
  return new CodedError('PROPOSAL_STALE', message.trimEnd(), { id, conflict });
}

/** Applies, merges or is stale, by the texts alone. */
export function compareFile(
  { path, base, proposed: digest }: Pick<ProposalRow, 'path' | 'base' | 'proposed'>,
  location: SkillLocation,
  { current, before, proposed }: Readonly<Record<'current' | 'before' | 'proposed', Buffer | null>>,
): Plan {
  const stale = (reason: string, conflict = ''): StalePlan => {
    const cut = conflict.length > MAX_CONFLICT ? `${conflict.slice(0, MAX_CONFLICT)}\n... (cut)` : conflict;
    return { stale: reason, conflict: cut, ...(digest === null ? {} : { current }) };
  };
  const now = current && digestOf(current);
  if (now === digest) return stale(`"${path}" has this content already.`);
  if (now === base) return { location, after: proposed, merged: false, current };
  if (current === null) return stale(`"${path}" does not exist any more.`);
  if (proposed === null) return stale(`"${path}" has changed since.`);
  const merge = mergeTexts(before?.toString('utf8') ?? '', current.toString('utf8'), proposed.toString('utf8'));
  if (before === null)
    return stale(`"${path}" has been created by somebody else since.`, merge.clean ? '' : merge.conflict);
  if (merge.clean) return { location, after: Buffer.from(merge.text), merged: true, current };
  return stale(`"${path}" has changed since, in the same lines.`, merge.conflict);
}

// --- internal ---

type ReadOnce = <T>(key: string, read: () => T) => T;

function createReadOnce(): ReadOnce {
  const values = new Map<string, unknown>();
  return <T>(key: string, read: () => T): T => {
    if (!values.has(key)) values.set(key, read());
    return values.get(key) as T;
  };
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

/** Characters. Two texts without a common line are one long conflict. */
const MAX_CONFLICT = 20_000;
