import { CodedError } from 'skill-registry/kernel';
import { adoptLineEndings, mergeTexts } from '../../../../../lib/diff/index.ts';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { DEFAULT_LIMITS } from '../../../core/config/config-keys.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { checkChange, checkSize, checkValid } from '../../history/skill-location.ts';
import type { Actor, Decider } from '../../history/types.ts';
import type { IncomingFile } from '../../install/opened-origin.ts';
import { compareFile, type Plan, type StalePlan, staleError } from '../../proposals/decide/apply-or-stale.ts';
import { checkReason, decidedError, proposalChanged } from '../../proposals/decide/decide.ts';
import { assertResolved } from '../../proposals/decide/edit.ts';
import { isWaiting } from '../../proposals/propose/describe.ts';
import { isEditable, skillGone, versionOf } from '../../proposals/propose/proposal-store.ts';
import { checksOf, diffOf } from '../../proposals/propose/propose.ts';
import type { DecidedProposal, EditedProposal, ProposalEdit, ProposedText } from '../../proposals/propose/types.ts';
import type { HubProposal } from '../store/hub-store.ts';
import { assertMayWait } from './propose.ts';
import {
  artifactOf,
  fileAt,
  locationOf,
  type PresentSkill,
  presentSkill,
  type Team,
  textOf,
  withFile,
} from './team.ts';
import { assertOther, assertSeen } from './who-may-decide.ts';

/** @param person - Those of others are as if they were not there. @throws PROPOSAL_NOT_FOUND. */
export async function proposalNamed({ store, space }: Team, id: string, person?: string): Promise<HubProposal> {
  const row = await store.proposal(space, id);
  if (row && (person ?? row.person) === row.person) return row;
  throw new CodedError('PROPOSAL_NOT_FOUND', `No proposal ${JSON.stringify(id.slice(0, 100))} in this space.`);
}

/** Would it be applied now, merged, or nothing, because it is stale? */
export function planOf(team: Team, row: HubProposal, present: PresentSkill | undefined): Plan {
  const location = locationOf(team, row.skill_id);
  if (row.kind === 'create' && present)
    return { stale: `a skill "${row.skill_id}" exists now.`, conflict: '', current: null };
  if (row.kind !== 'create' && !present) return { stale: skillGone(row.skill_id), conflict: '' };
  if (row.kind === 'delete') {
    if (present?.entry.digest !== row.base) return { stale: 'the skill has changed since.', conflict: '' };
    return { location, after: null, merged: false, current: null };
  }
  const bytesOf = (bytes: Uint8Array | null): Buffer | null => bytes && Buffer.from(bytes);
  const [before, proposed] = [bytesOf(row.base_bytes), bytesOf(row.new_bytes)];
  return compareFile(row, location, { current: fileAt(present?.files ?? [], row.path), before, proposed });
}

/** Undefined: it is stale. Of a removal: no file. */
export function filesAfter(
  row: HubProposal,
  present: PresentSkill | undefined,
  plan: Plan,
): readonly IncomingFile[] | undefined {
  if ('stale' in plan) return undefined;
  return row.kind === 'delete' ? [] : withFile(present?.files ?? [], row.path, plan.after);
}

/** One transaction with the next revision of the skill. */
export async function approve(
  team: Team,
  id: string,
  actor: Decider & { readonly version?: string | undefined },
): Promise<DecidedProposal> {
  const { store, space } = team;
  const { by, reason = null } = actor;
  if (reason?.trim()) checkReason(reason, 'An approval');
  for (;;) {
    const row = await undecided(team, id, actor.version);
    const { kind, path, skill_id: skillId } = row;
    const persons = [row.person, ...row.editors];
    assertOther(team, by, persons);
    const present = await presentSkill(team, skillId);
    const plan = planOf(team, row, present);
    if ('stale' in plan) {
      if (await noteStale(team, row, plan, by)) throw staleError(id, plan, 'Its page');
      continue;
    }
    const { after, current, location, merged } = plan;
    const files = filesAfter(row, present, plan) ?? [];
    if (after !== null) {
      checkSize(location, path, after, DEFAULT_LIMITS);
      checkValid(location, path, current, after);
    }
    const allowed = kind === 'delete' ? [] : await assertSeen(skillId, actor, files);
    const revision = await store.commit(space, {
      skillId,
      kind: kind === 'delete' ? 'removed' : 'proposal',
      by,
      reason,
      persons,
      after: present?.entry.revision ?? (await lastNumber(team, skillId)),
      artifact: kind === 'delete' ? null : artifactOf(skillId, files),
      allowed,
      proposal: { id, edition: row.edition, merged },
    });
    if (revision !== undefined) return { proposalId: id, state: 'approved', skillId, revision, merged };
  }
}

/** @throws INVALID_ARGUMENT without a reason. */
export async function reject(
  team: Team,
  id: string,
  { by, reason, version }: Actor & { readonly reason: string; readonly version?: string | undefined },
): Promise<DecidedProposal> {
  checkReason(reason, 'A rejection');
  for (;;) {
    const row = await undecided(team, id, version);
    const decision = { state: 'rejected', decided_by: by, decision_reason: reason, conflict: null } as const;
    const fields = { ...decision, decided_at: new Date().toISOString() };
    if (await team.store.note(team.space, row, fields, { kind: 'rejected', by, content: { reason } }))
      return { proposalId: id, state: 'rejected', skillId: row.skill_id, revision: null, merged: false };
  }
}

/** @throws as `edit`. */
export async function proposedText(team: Team, id: string): Promise<ProposedText> {
  const row = await undecided(team, id);
  const { text, version } = await subjectOf(team, row);
  return { proposalId: id, path: row.path, content: text, version };
}

/** Who edits has a part in it, and does not approve it where `four_eyes` is set. */
export async function edit(team: Team, id: string, { content, by, version }: ProposalEdit): Promise<EditedProposal> {
  const { store, space } = team;
  for (;;) {
    const row = await undecided(team, id);
    const { kind, path, skill_id: skillId } = row;
    const subject = await subjectOf(team, row);
    if (version !== undefined && version !== subject.version) throw proposalChanged(id);
    const { before, files, text } = subject;
    const after = Buffer.from(adoptLineEndings(subject.sides[0] ?? '', content));
    const next = { base: before && digestOf(before), proposed: digestOf(after) };
    if (content === text || versionOf(next) === versionOf(row))
      return { proposalId: id, skillId, state: row.state, changed: false, version: versionOf(row) };
    assertResolved(content, subject.sides);
    const location = locationOf(team, skillId);
    checkChange(location, path, { before, after }, DEFAULT_LIMITS);
    const change = { location, kind, path, before, after, files };
    const checks = JSON.stringify(await checksOf(change));
    const others = await store.proposals(space, { skillId });
    assertMayWait({ ...row, ...next, author: by }, { after }, others);
    const texts = { ...next, base_bytes: before, new_bytes: after, diff: diffOf(change), checks };
    const fields = { ...texts, editors: [...new Set([...row.editors, by])], state: 'open', conflict: null } as const;
    const content_ = { before: row.proposed, after: next.proposed };
    if (await store.note(space, row, fields, { kind: 'edited', by, content: content_ }))
      return { proposalId: id, skillId, state: 'open', changed: true, version: versionOf(next) };
  }
}

export async function recommend(
  team: Team,
  id: string,
  verdict: 'approve' | 'reject',
  { by, reason }: Actor & { readonly reason: string },
): Promise<void> {
  checkReason(reason, 'A recommendation');
  const event = { kind: 'recommended', by, content: { verdict, reason } } as const;
  while (!(await team.store.note(team.space, await undecided(team, id), {}, event)));
}

/** @throws PROPOSAL_NOT_FOUND, PROPOSAL_DECIDED, PROPOSAL_CHANGED (by default any `version` is accepted). */
export async function undecided(team: Team, id: string, version?: string): Promise<HubProposal> {
  const row = await proposalNamed(team, id);
  if (!isWaiting(row)) throw decidedError(row, UNDO, 'If the change is wanted after all, propose it anew.');
  if (version !== undefined && version !== versionOf(row)) throw proposalChanged(id);
  return row;
}

/** Also of a withdrawn skill. */
export async function lastNumber({ store, space }: Team, skillId: string): Promise<number> {
  return (await store.revisions(space, skillId)).at(-1)?.number ?? 0;
}

// --- internal ---

const UNDO = 'To undo it, roll the skill back, or restore it: on the page of its history.';

/** @returns false: it has changed meanwhile. */
function noteStale({ store, space }: Team, row: HubProposal, plan: StalePlan, by: string): Promise<boolean> {
  const fields = { state: 'stale', conflict: plan.conflict || plan.stale } as const;
  return store.note(space, row, fields, { kind: 'stale', by, content: { reason: plan.stale } });
}

/** What an edit begins with. Of a stale proposal both texts, and its version is also that of the file. */
async function subjectOf(team: Team, row: HubProposal) {
  const present = await presentSkill(team, row.skill_id);
  const plan = planOf(team, row, present);
  const conflict = 'stale' in plan ? plan.conflict || plan.stale : null;
  if (!isEditable({ ...row, state: 'stale' in plan ? 'stale' : 'open', conflict }))
    throw invalidArgument(`The proposal ${row.id} has no text to edit. Approve or reject it.`);
  const [base, proposed] = [textOf(row.base_bytes), textOf(row.new_bytes) ?? ''];
  const files = (present?.files ?? []).map(({ path }) => path);
  const own = { before: row.base_bytes && Buffer.from(row.base_bytes), text: proposed, sides: [proposed], files };
  if (!('stale' in plan)) return { ...own, version: versionOf(row) };
  const current = fileAt(present?.files ?? [], row.path);
  const version = versionOf({ base: current && digestOf(current), proposed: row.proposed });
  if (current === null) return { ...own, before: null, version };
  const { text } = mergeTexts(base ?? '', current.toString('utf8'), proposed);
  return { before: current, text, sides: [current.toString('utf8'), proposed], files, version };
}
