import { isCodedError } from 'skill-registry/kernel';
import { applyDiff, mergeTexts } from '../../../lib/diff/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import {
  proposalChanged,
  proposalDecided,
  proposalFileEdited,
  proposalNotFound,
  proposalStale,
  rowRefused,
} from '../history/errors.ts';
import { archiveFolder, checkedPath, type Operation } from '../history/journal-entries.ts';
import { getBlob, putBlob } from '../history/revisions.ts';
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
} from '../history/skill-location.ts';
import { digestOf, readFolderTree, treeDigest } from '../history/skill-tree.ts';
import type { Actor, Revision } from '../history/types.ts';
import type { Writer } from '../history/writer.ts';
import {
  addEvent,
  editProblem,
  findRow,
  lastEvent,
  noteReport,
  type ProposalRow,
  updateProposal,
  versionOf,
} from '../propose/proposal-store.ts';
import { diffOf } from '../propose/propose.ts';
import { isReportEdited } from '../propose/reports.ts';
import type { Decision, Proposals, Recommendation } from '../propose/types.ts';
import { invalidArgument, skillNotFound } from '../skill/errors.ts';
import type { SqliteDatabase } from '../store/open-database.ts';

/** @throws as `Proposals.approve`. */
export async function approve(
  context: ChangeContext,
  wanted: string,
  actor: Parameters<Proposals['approve']>[1],
): Promise<Decision> {
  const { writer } = context;
  const { id } = undecided(writer, wanted);
  for (;;) {
    const outcome = await writer.exclusively((database, dataDir): Outcome | undefined => {
      const row = undecided(writer, id);
      if (actor.version !== undefined && actor.version !== versionOf(row)) throw proposalChanged(id);
      if (row.file_due === 0 && isReportEdited(dataDir, row)) {
        // It is kept beside as soon as this ends.
        noteReport(database, id, { due: true });
        return undefined;
      }
      const edited = editProblem(database, row, writer.dataDir);
      if (edited && lastEvent(database, id, 'file-edited', 'told', 'edited')?.kind === 'file-edited') {
        addEvent(database, id, 'told', { by: actor.by, at: writer.now() });
        return { edited: edited.message };
      }
      return decideOn(context, database, row, actor);
    });
    if (outcome === undefined) continue;
    if ('edited' in outcome) throw proposalFileEdited(id, outcome.edited);
    await context.refresh();
    if ('stale' in outcome) throw proposalStale(id, outcome.stale, outcome.conflict, outcome.current !== undefined);
    return outcome;
  }
}

/** @throws as `Proposals.reject`. */
export async function reject(
  { writer }: ChangeContext,
  wanted: string,
  { by, reason }: Actor & { readonly reason: string },
): Promise<Decision> {
  if (reason.trim() === '') throw invalidArgument('A rejection needs a reason: whoever proposed it learns from it.');
  const { id } = undecided(writer, wanted);
  return writer.exclusively((database) => {
    const { skill_id: skillId } = undecided(writer, id);
    const decision = { state: 'rejected', decided_by: by, decided_at: writer.now(), decision_reason: reason } as const;
    database.transaction(() => {
      updateProposal(database, id, { ...decision, conflict: null });
      addEvent(database, id, 'rejected', { by, at: decision.decided_at }, { reason });
    });
    return { proposalId: id, state: 'rejected', skillId, revision: null, merged: false };
  });
}

/** @throws as `Proposals.recommend`. */
export async function recommend(
  { writer }: ChangeContext,
  wanted: string,
  verdict: Recommendation['verdict'],
  { by, reason }: Actor & { readonly reason: string },
): Promise<void> {
  if (reason.trim() === '') throw invalidArgument('A recommendation needs a reason.');
  const { id } = undecided(writer, wanted);
  await writer.exclusively((database) => {
    undecided(writer, id);
    database.transaction(() => {
      updateProposal(database, id, {});
      addEvent(database, id, 'recommended', { by, at: writer.now() }, { verdict, reason });
    });
  });
}

/** @throws PROPOSAL_NOT_FOUND, PROPOSAL_DECIDED. */
export function undecided(writer: Writer, wanted: string): ProposalRow {
  if (!writer.hasHistory()) throw proposalNotFound(wanted, []);
  const row = findRow(writer.database(), wanted);
  if (row.state === 'open' || row.state === 'stale') return row;
  throw proposalDecided(row.id, row.state, row.decided_by ?? 'unknown', row.decided_at ?? 'an unknown time');
}

/** Makes a proposal approved in the transaction of its revision. */
export function noteApproved(
  database: SqliteDatabase,
  { proposal, by, at, reason, merged }: Operation,
  { number }: Revision,
): void {
  if (proposal === undefined) return;
  const decision = { state: 'approved', decided_by: by, decided_at: at, decision_reason: reason ?? null } as const;
  updateProposal(database, proposal, { ...decision, conflict: null, revision: number });
  addEvent(database, proposal, 'approved', { by, at }, { revision: number });
  if (merged) addEvent(database, proposal, 'merged', { by, at });
}

/**
 * Where a proposal is to be applied now: in the folder it was made for, whoever has the id today.
 *
 * @throws SKILL_NOT_FOUND when the skill has gone, SOURCE_NOT_WRITABLE.
 */
export function locationOfRow(context: ChangeContext, row: ProposalRow): SkillLocation {
  const { kind, skill_id: skillId, place: key, source: id } = row;
  const { root } = context;
  const sources = context.sources();
  if (kind === 'create') {
    const location = locationOfKey(skillId, key, { sources, root }, id);
    // A new skill is made directly below its source, under its id.
    if (location.below === skillId) return location;
    throw rowRefused(`a proposal to make ${JSON.stringify(skillId)} in ${JSON.stringify(key)}`);
  }
  const there = [...context.snapshot().byQualifiedId.values()].filter((one) => skillKey(one, root) === key);
  // Two sources may have the same folder, and one of them may not be written.
  const skill = there.find(({ source }) => source === id) ?? there[0];
  if (!skill) throw skillNotFound(skillId, []);
  return locationOfSkill(skill, sources, root);
}

// --- internal ---

type Outcome = Decision | Extract<Plan, { stale: string }> | { readonly edited: string };

/** Inside `exclusively`. */
function decideOn(context: ChangeContext, database: SqliteDatabase, row: ProposalRow, actor: Actor): Outcome {
  const { writer } = context;
  writer.assertFinished(row.place);
  const plan = planOf(context, database, row);
  if (!('stale' in plan)) {
    const { location, after, merged } = plan;
    const change =
      row.kind === 'delete'
        ? ({ kind: 'removed', changes: [], move: { direction: 'out', folder: archiveFolder(location) } } as const)
        : ({ kind: 'proposal', changes: [{ path: row.path, after }] } as const);
    const { by, reason } = actor;
    const { number } = writer.apply({ location, ...change, by, reason, proposal: row.id, merged });
    return { proposalId: row.id, state: 'approved', skillId: row.skill_id, revision: number, merged };
  }
  const { stale: reason, conflict, current } = plan;
  database.transaction(() => {
    if (current) putBlob(database, current);
    updateProposal(database, row.id, { state: 'stale', conflict: conflict || reason });
    const shown = current === undefined ? {} : { current: current && digestOf(current) };
    addEvent(database, row.id, 'stale', { by: actor.by, at: writer.now() }, { reason, ...shown });
  });
  return plan;
}

/** What approving a proposal would do to the skill as it is now. */
type Plan =
  | { readonly location: SkillLocation; readonly after: Buffer | null; readonly merged: boolean }
  /** It does not apply: why, where both changed the same lines, and the file it was held against, where there is one to edit. */
  | { readonly stale: string; readonly conflict: string; readonly current?: Buffer | null };

/**
 * @throws SKILL_INVALID, SOURCE_NOT_WRITABLE, RESOURCE_TOO_LARGE, PATH_TRAVERSAL; HISTORY_ROW_REFUSED when it would do something
 *   else than it shows.
 */
function planOf(context: ChangeContext, database: SqliteDatabase, row: ProposalRow): Plan {
  let location: SkillLocation;
  try {
    location = locationOfRow(context, row);
  } catch (error) {
    if (!isCodedError(error, 'SKILL_NOT_FOUND')) throw error;
    return { stale: `the skill "${row.skill_id}" is not there any more.`, conflict: '' };
  }
  const proposed = row.proposed === null ? null : getBlob(database, row.proposed);
  if (row.kind === 'delete') {
    const tree = readFolderTree(folderOf(location), context.limits.file_bytes);
    if (treeDigest(tree.files) !== row.base)
      return { stale: 'the skill has changed since; look at it again before it goes.', conflict: '' };
    return { location, after: null, merged: false };
  }
  const isNew = row.kind === 'create';
  const isTaken = isNew && (folderExists(location) || context.snapshot().byId.has(row.skill_id));
  if (isTaken) return { stale: `there is a "${row.skill_id}" by now.`, conflict: '' };
  const current = isNew ? null : bytesAt(location, checkedPath(row.path, location), context.limits);
  const base =
    current && digestOf(current) === row.base ? current : row.base === null ? null : getBlob(database, row.base);
  assertAsShown(row, location, base, proposed);
  const plan = planOfFile(database, row, location, current, proposed);
  if (!('stale' in plan) && plan.after !== null) {
    checkSize(location, row.path, plan.after, context.limits);
    checkValid(location, row.path, current, plan.after);
  }
  return plan;
}

/** Whoever approves has seen the diff, so it must be what is written. */
function assertAsShown(
  { kind, path, diff, skill_id }: ProposalRow,
  { skillFile }: SkillLocation,
  before: Buffer | null,
  after: Buffer | null,
): void {
  if (path === skillFile ? after === null : kind === 'create')
    throw rowRefused(`a proposal for ${JSON.stringify(skill_id)} that leaves it without SKILL.md`);
  if (diff === diffOf({ kind, path, before, after })) return;
  // An earlier release may have written it otherwise.
  const outcome = applyDiff(before?.toString('utf8') ?? '', diff, path, skill_id);
  if (!outcome.applied || after === null || !after.equals(Buffer.from(outcome.text)))
    throw rowRefused(`a proposal for ${JSON.stringify(skill_id)} whose diff is not what would be written`);
}

function planOfFile(
  database: SqliteDatabase,
  { path, base, proposed: digest }: ProposalRow,
  location: SkillLocation,
  current: Buffer | null,
  proposed: Buffer | null,
): Plan {
  const stale = (reason: string, conflict = ''): Plan => {
    const cut = conflict.length > MAX_CONFLICT ? `${conflict.slice(0, MAX_CONFLICT)}\n... (cut)` : conflict;
    return { stale: reason, conflict: cut, ...(proposed === null ? {} : { current }) };
  };
  const now = current && digestOf(current);
  if (now === base) return { location, after: proposed, merged: false };
  if (now === digest) return stale(`"${path}" has this content already.`);
  if (current === null) return stale(`"${path}" is not there any more.`);
  if (proposed === null) return stale(`"${path}" has changed since; look at it again before it goes.`);
  const before = base === null ? null : getBlob(database, base);
  const merge = mergeTexts(before?.toString('utf8') ?? '', current.toString('utf8'), proposed.toString('utf8'));
  if (before === null)
    return stale(`"${path}" has been made by somebody else meanwhile.`, merge.clean ? '' : merge.conflict);
  if (merge.clean) return { location, after: Buffer.from(merge.text), merged: true };
  return stale(`"${path}" has changed since, in the same lines.`, merge.conflict);
}

/** Texts that have nothing in common are one conflict from top to end. */
const MAX_CONFLICT = 20_000;
