import { CodedError } from 'skill-registry/kernel';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { showHidden } from '../../../../../lib/text/index.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import { splitFrontmatter } from '../../../core/skill/frontmatter.ts';
import { isSkillFileName } from '../../../core/sources/walk/names.ts';
import type { SqliteDatabase } from '../../../core/store/open-database.ts';
import type { ChangeContext } from '../../history/change-context.ts';
import { assertInspected } from '../../history/inspected-change.ts';
import { archiveFolder, type Operation } from '../../history/journal/journal-entries.ts';
import type { Writer } from '../../history/journal/writer.ts';
import { putBlob } from '../../history/revisions.ts';
import type { SkillLocation } from '../../history/skill-location.ts';
import type { Decider, Revision } from '../../history/types.ts';
import type { Check } from '../checks/checks.ts';
import { agentOf, isWaiting } from '../propose/describe.ts';
import type { ProposalRow } from '../propose/proposal-store.ts';
import * as store from '../propose/proposal-store.ts';
import { checkLength, checksOf } from '../propose/propose.ts';
import { presentReport } from '../propose/reports.ts';
import type { DecidedProposal, Proposals } from '../propose/types.ts';
import { type ApplyPlan, filesAfter, planOf, type StalePlan, staleError } from './apply-or-stale.ts';

export async function approve(
  context: ChangeContext,
  ...[id, actor]: Parameters<Proposals['approve']>
): Promise<DecidedProposal> {
  const { writer } = context;
  findUndecided(writer, id);
  if (actor.reason?.trim()) checkReason(actor.reason, 'An approval');
  for (;;) {
    const outcome = await writer.exclusively((database, dataDir): Outcome | undefined => {
      const row = findUndecided(writer, id, actor.version);
      if (row.file_due === 0 && presentReport(dataDir, row)?.isOurs === false) {
        // The writer renames the edited report when this call ends; then the loop starts again.
        store.noteReport(database, id, { due: true });
        return undefined;
      }
      const edited = store.editProblem(database, row, writer.dataDir);
      if (edited && store.eventsOf(database, id, 'file-edited', 'told', 'edited').at(-1)?.kind === 'file-edited') {
        store.addEvent(database, id, 'told', { by: actor.by, at: writer.now() });
        return { edited: edited.message };
      }
      return decideOn(context, row, actor);
    });
    if (outcome === undefined) continue;
    if ('edited' in outcome) throw new CodedError('PROPOSAL_FILE_EDITED', `${outcome.edited} ${NOT_DECIDED}`, { id });
    if ('stale' in outcome) {
      await context.refresh();
      tell(context, outcome.skillId, 'stale', actor.by);
      throw staleError(id, outcome);
    }
    await context.refresh(outcome.written);
    tell(context, outcome.decided.skillId, 'approved', actor.by);
    return outcome.decided;
  }
}

export async function reject(
  context: ChangeContext,
  ...[id, { by, reason, version }]: Parameters<Proposals['reject']>
): Promise<DecidedProposal> {
  const { writer } = context;
  checkReason(reason, 'A rejection');
  findUndecided(writer, id);
  const skillId = await writer.exclusively((database) => {
    const { skill_id: ofSkill } = findUndecided(writer, id, version);
    const decision = { state: 'rejected', decided_by: by, decided_at: writer.now(), decision_reason: reason } as const;
    database.transaction(() => {
      store.updateProposal(database, id, { ...decision, conflict: null });
      store.addEvent(database, id, 'rejected', { by, at: decision.decided_at }, { reason });
    });
    return ofSkill;
  });
  tell(context, skillId, 'rejected', by);
  return { proposalId: id, state: 'rejected', skillId, revision: null, merged: false };
}

export async function recommend(
  context: ChangeContext,
  ...[id, verdict, { by, reason }]: Parameters<Proposals['recommend']>
): Promise<void> {
  const { writer } = context;
  checkReason(reason, 'A recommendation');
  const { skill_id: skillId } = findUndecided(writer, id);
  await writer.exclusively((database) => {
    findUndecided(writer, id);
    database.transaction(() => {
      store.updateProposal(database, id, {});
      store.addEvent(database, id, 'recommended', { by, at: writer.now() }, { verdict, reason });
    });
  });
  tell(context, skillId, 'recommended', by);
}

export function tell({ events }: ChangeContext, skillId: string, outcome: string, by: string): void {
  events.emit('changed', { skillId, outcome, agentId: agentOf(by), threadId: undefined });
}

/**
 * Why a person has to look at it alone; null: it changes the body of SKILL.md and nothing else. Checks the texts again,
 * because what is stored may come from somebody else.
 * @param plan - Undefined: it does not apply.
 * @param files - Paths of the skill. Default: those of its folder.
 */
export async function whyPlanAlone(
  { kind, path }: Pick<ProposalRow, 'kind' | 'path'>,
  plan: ApplyPlan | undefined,
  files?: readonly string[],
): Promise<string | null> {
  if (kind !== 'update' || !isSkillFileName(path)) return 'it changes more than the body of SKILL.md';
  if (!plan) return 'it does not apply any more';
  const { after, current: before, location, merged } = plan;
  if (merged) return 'the file has changed since it was proposed';
  if (!before || !after) return 'it changes more than the body of SKILL.md';
  if (!headOf(before).equals(headOf(after))) return 'it changes the frontmatter';
  const checks = await checksOf({ location, kind, path, before, after, ...(files && { files }) });
  const found = checks.find((one) => one.level !== 'info' || !PLAIN.has(one.kind));
  return found ? found.text : null;
}

/** @throws PROPOSAL_NOT_FOUND, PROPOSAL_DECIDED, PROPOSAL_CHANGED (by default any `version` is accepted). */
export function findUndecided(writer: Writer, id: string, version?: string): ProposalRow {
  const row = store.rowOf(store.historyFor(id, writer), id);
  if (!isWaiting(row)) throw decidedError(row);
  if (version !== undefined && version !== store.versionOf(row)) throw proposalChanged(id);
  return row;
}

/** Call it in the transaction that adds the revision. */
export function noteApproved(
  database: SqliteDatabase,
  { proposal, by, at, reason, merged }: Operation,
  { number }: Revision,
): void {
  if (proposal === undefined) return;
  const decision = { state: 'approved', decided_by: by, decided_at: at, decision_reason: reason ?? null } as const;
  store.updateProposal(database, proposal, { ...decision, conflict: null, revision: number });
  store.addEvent(database, proposal, 'approved', { by, at }, { revision: number });
  if (merged) store.addEvent(database, proposal, 'merged', { by, at });
}

/** Also stores the compared file, for a later edit. Call it inside `exclusively`. */
export function noteStale(
  writer: Writer,
  id: string,
  { stale: reason, conflict, current }: StalePlan,
  by: string,
): void {
  const database = writer.database();
  database.transaction(() => {
    if (current) putBlob(database, current);
    store.updateProposal(database, id, { state: 'stale', conflict: conflict || reason });
    const shown = current === undefined ? {} : { current: current && digestOf(current) };
    store.addEvent(database, id, 'stale', { by, at: writer.now() }, { reason, ...shown });
  });
}

export function proposalChanged(id: string): CodedError {
  const message = `The proposal ${id} has been edited since you read it. Nothing was done. Read it again (\`skill-registry proposals show ${id}\`), then decide.`;
  return new CodedError('PROPOSAL_CHANGED', message, { id });
}

export function decidedError(
  row: Pick<ProposalRow, 'id' | 'kind' | 'state' | 'skill_id' | 'decided_by' | 'decided_at'>,
  undo: string = UNDO[row.kind](row.skill_id),
  ifRejected = 'If the change is wanted after all, a person makes it in the folder of the skill.',
): CodedError {
  const { id, state } = row;
  const [by, at] = [row.decided_by ?? 'unknown', row.decided_at ?? 'an unknown time'];
  const advice = state === 'approved' ? undo : ifRejected;
  const message = `The proposal ${id} was ${state} by ${showHidden(by)} at ${at}, and a decision is final. ${advice}`;
  return new CodedError('PROPOSAL_DECIDED', message, { id, state, by, at });
}

export function checkReason(reason: string, what: string): void {
  if (reason.trim() === '') throw invalidArgument(`${what} needs a reason.`);
  checkLength('reason', reason);
}

// --- internal ---

/** What every change has. A description may also come from the body. */
const PLAIN: ReadonlySet<Check['kind']> = new Set(['tokens', 'validation', 'size']);

/** Everything above the body. */
function headOf(bytes: Buffer): Buffer {
  const text = bytes.toString('utf8');
  return bytes.subarray(0, Buffer.byteLength(text.slice(0, splitFrontmatter(text).bodyOffset)));
}

const NOT_DECIDED = 'Nothing was decided. Approve again to apply the proposal without that edit.';

const UNDO: Readonly<Record<ProposalRow['kind'], (skillId: string) => string>> = {
  update: (id) =>
    `To undo it, roll the skill back: \`skill-registry history ${id}\` lists its revisions, \`skill-registry rollback ${id} REVISION\` restores one.`,
  delete: (id) => `To undo it: \`skill-registry rollback ${id}\` restores it.`,
  create: () => 'To undo it, remove the folder of the skill; its history keeps the content.',
};

type Outcome =
  | { readonly decided: DecidedProposal; readonly written: SkillLocation | undefined }
  | (StalePlan & { readonly skillId: string })
  | { readonly edited: string };

/** Call it inside `exclusively`. */
function decideOn(context: ChangeContext, row: ProposalRow, actor: Decider): Outcome {
  const { writer } = context;
  writer.assertFinished(row.place);
  const plan = planOf(context, row);
  if ('stale' in plan) {
    noteStale(writer, row.id, plan, actor.by);
    return { ...plan, skillId: row.skill_id };
  }
  const { location, after, merged } = plan;
  assertInspected(row.skill_id, actor, () => filesAfter(context, row, plan));
  const change =
    row.kind === 'delete'
      ? ({ kind: 'removed', changes: [], move: { direction: 'out', folder: archiveFolder(location) } } as const)
      : ({ kind: 'proposal', changes: [{ path: row.path, after }] } as const);
  const { by, reason } = actor;
  const { number } = writer.apply({ location, ...change, by, reason, proposal: row.id, merged });
  const decided = { proposalId: row.id, state: 'approved', skillId: row.skill_id, revision: number, merged } as const;
  return { decided, written: row.kind === 'update' ? location : undefined };
}
