import { CodedError } from 'skill-registry/kernel';
import { adoptLineEndings, mergeTexts } from '../../../../../lib/diff/index.ts';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { invalidArgument } from '../../../core/skill/errors.ts';
import type { ChangeContext } from '../../history/change-context.ts';
import { quoted } from '../../history/errors.ts';
import { checkedPath } from '../../history/journal/journal-entries.ts';
import { isPerson } from '../../history/journal/writer.ts';
import { getBlob, putBlob } from '../../history/revisions.ts';
import { bytesAt, checkChange, type SkillLocation } from '../../history/skill-location.ts';
import type { ProposalRow } from '../propose/proposal-store.ts';
import * as store from '../propose/proposal-store.ts';
import { checksOf, diffOf } from '../propose/propose.ts';
import type { EditedProposal, Proposals, ProposedText } from '../propose/types.ts';
import { comparePresent, locationOfRow, type StalePlan } from './apply-or-stale.ts';
import { findUndecided, noteStale, proposalChanged, tell } from './decide.ts';

/** Of a stale proposal, reads the file now and stores its content. */
export async function proposedText(context: ChangeContext, id: string): Promise<ProposedText> {
  const { writer } = context;
  await noteIfStale(context, id);
  const row = findUndecided(writer, id);
  const { path, state } = row;
  const location = locationToEdit(context, row);
  if (state === 'stale') {
    const current = bytesAt(location, checkedPath(path, location), context.limits);
    const digest = current && digestOf(current);
    if (lookedAt(context, id) !== digest) {
      await writer.exclusively((database) => {
        if (current) putBlob(database, current);
        store.addEvent(database, id, 'shown', { by: 'unknown', at: writer.now() }, { current: digest });
      });
    }
  }
  const subject = subjectOf(context, row, location);
  return { proposalId: id, path, content: subject.text, version: subject.version };
}

export async function edit(
  context: ChangeContext,
  ...[id, { content, by, version }]: Parameters<Proposals['edit']>
): Promise<EditedProposal> {
  const { writer } = context;
  findUndecided(writer, id);
  if (!isPerson(by)) {
    const message = `Only a person edits a proposal; an agent proposes another change, or recommends what to do with ${id}.`;
    throw new CodedError('WRITE_DENIED', message, { id });
  }
  for (;;) {
    const row = findUndecided(writer, id);
    const { kind, path, skill_id: skillId } = row;
    const location = locationToEdit(context, row);
    const subject = subjectOf(context, row, location);
    if (version !== undefined && version !== subject.version) throw proposalChanged(id);
    const { before, text, sides } = subject;
    const after = Buffer.from(adoptLineEndings(sides[0] ?? '', content));
    const next = { base: before && digestOf(before), proposed: digestOf(after) };
    if (content === text || store.versionOf(next) === store.versionOf(row))
      return { proposalId: id, skillId, state: row.state, changed: false, version: store.versionOf(row) };
    assertResolved(content, sides);
    checkChange(location, path, { before, after }, context.limits);
    const change = { location, kind, path, before, after };
    const checks = JSON.stringify(await checksOf(change));
    const fields = { ...next, diff: diffOf(change), checks, state: 'open', conflict: null } as const;
    store.assertNoNul(fields);
    const isDone = await writer.exclusively((database) => {
      // Somebody may have decided or edited it while the checks ran.
      if (findUndecided(writer, id).version !== row.version) return false;
      store.assertNoDuplicate(database, { ...row, ...fields });
      database.transaction(() => {
        for (const bytes of before ? [before, after] : [after]) putBlob(database, bytes);
        store.updateProposal(database, id, fields);
        const contents = { base: row.base, before: row.proposed, after: next.proposed };
        store.addEvent(database, id, 'edited', { by, at: writer.now() }, contents);
      });
      return true;
    });
    if (!isDone) continue;
    tell(context, skillId, 'edited', by);
    return { proposalId: id, skillId, state: 'open', changed: true, version: store.versionOf(next) };
  }
}

/** A line like a conflict mark is allowed if one of the sides has it. @throws PROPOSAL_CONFLICT. */
export function assertResolved(content: string, sides: readonly string[]): void {
  const linesOf = (text: string): readonly string[] => text.replace(/^\ufeff/, '').split(/\r?\n/);
  const own = new Set(sides.flatMap(linesOf));
  for (const [at, line] of linesOf(content).entries())
    if (/^(<{7}|\|{7}|={7}|>{7})( |$)/.test(line) && !own.has(line)) {
      const message = `Line ${at + 1} is still a conflict mark (${quoted(line, 40)}). Nothing was done. Keep what you want of both sides and remove the lines with marks.`;
      throw new CodedError('PROPOSAL_CONFLICT', message, { line: at + 1 });
    }
}

// --- internal ---

/** So that the text has both sides. */
async function noteIfStale(context: ChangeContext, id: string): Promise<void> {
  const { writer } = context;
  const stalePlan = (): StalePlan | undefined => {
    const row = findUndecided(writer, id);
    if (row.state !== 'open' || row.kind === 'delete') return undefined;
    const plan = comparePresent(context, row);
    return 'stale' in plan ? plan : undefined;
  };
  if (stalePlan() === undefined) return;
  await writer.exclusively(() => {
    const plan = stalePlan();
    if (plan) noteStale(writer, id, plan, 'unknown');
  });
}

interface Subject {
  readonly before: Buffer | null;
  readonly text: string;
  /** For a stale proposal the file is first. */
  readonly sides: readonly string[];
  readonly version: string;
}

function subjectOf(context: ChangeContext, row: ProposalRow, location: SkillLocation): Subject {
  const blobOf = (digest: string | null): Buffer | null =>
    digest === null ? null : getBlob(context.writer.database(), digest);
  const base = blobOf(row.base);
  const proposedText = blobOf(row.proposed)?.toString('utf8') ?? '';
  if (row.state === 'open')
    return { before: base, text: proposedText, sides: [proposedText], version: store.versionOf(row) };
  const digest = lookedAt(context, row.id);
  const before =
    digest === undefined ? bytesAt(location, checkedPath(row.path, location), context.limits) : blobOf(digest);
  const version = store.versionOf({ base: before && digestOf(before), proposed: row.proposed });
  if (before === null) return { before, text: proposedText, sides: [proposedText], version };
  const current = before.toString('utf8');
  const { text } = mergeTexts(base?.toString('utf8') ?? '', current, proposedText);
  return { before, text, sides: [current, proposedText], version };
}

/** The file that a stale proposal was last compared with; null: there was none. */
function lookedAt({ writer }: ChangeContext, id: string): string | null | undefined {
  const current = store.eventsOf(writer.database(), id, 'stale', 'shown').at(-1)?.content.current;
  return typeof current === 'string' || current === null ? current : undefined;
}

function locationToEdit(context: ChangeContext, row: ProposalRow): SkillLocation {
  const { id, kind, proposed, skill_id, state } = row;
  const remedy = `${state === 'stale' ? 'Reject' : 'Approve or reject'} it.`;
  if (kind === 'delete' || proposed === null)
    throw invalidArgument(`The proposal ${id} is a removal, so it has no text to edit. ${remedy}`);
  if (kind === 'create' && state === 'stale') {
    const what = `creates the skill "${skill_id}", which exists now, so there is nothing to edit`;
    throw invalidArgument(`The proposal ${id} ${what}. Reject it. To change the skill, edit its files.`);
  }
  return locationOfRow(context, row);
}
