import { CodedError } from 'skill-registry/kernel';
import { showHidden } from '../../../lib/text/index.ts';
import { quoted } from '../history/errors.ts';
import type { Proposal } from './types.ts';

export function proposalNotFound(wanted: string, known: readonly string[]): CodedError {
  const all = known.length > FEW ? '; all of them: skill-registry proposals list --state all' : '';
  const there = known.length > 0 ? `There are: ${fewOf(known)}${all}` : 'There are none.';
  return new CodedError('PROPOSAL_NOT_FOUND', `No proposal ${quoted(wanted, 100)}. ${there}`, { known });
}

const NOT_NAMED = {
  short: 'is too short. Give the whole id, or at least six characters of its beginning or end',
  part: 'is a part of an id, and only a whole id decides. Give it',
  several: 'is the beginning or end of several ids. Give more characters or the whole id of one',
};

export function proposalNotNamed(wanted: string, why: keyof typeof NOT_NAMED, matching: readonly string[]): CodedError {
  const message = `${quoted(wanted, 100)} ${NOT_NAMED[why]}: ${fewOf(matching)}`;
  return new CodedError('PROPOSAL_NOT_FOUND', message, { known: matching });
}

export function proposalDecided({ id, kind, state, skill_id, decided_by, decided_at }: Decided): CodedError {
  const [by, at] = [decided_by ?? 'unknown', decided_at ?? 'an unknown time'];
  const advice =
    state === 'approved'
      ? UNDO[kind](skill_id)
      : 'If the change is wanted after all, a person makes it in the folder of the skill.';
  const message = `The proposal ${id} was ${state} by ${showHidden(by)} at ${at}, and a decision is final. ${advice}`;
  return new CodedError('PROPOSAL_DECIDED', message, { id, state, by, at });
}

export function proposalNotRejected(id: string, state: string): CodedError {
  const why =
    state === 'approved'
      ? 'its text is part of the history of the skill, from which no command removes it.'
      : `reject it first (\`skill-registry proposals reject ${id} --reason TEXT\`).`;
  const message = `The proposal ${id} is ${state}, and only rejected proposals can be purged: ${why}`;
  return new CodedError('PROPOSAL_NOT_REJECTED', message, { id, state });
}

export function proposalStale(id: string, reason: string, conflict: string, canEdit: boolean): CodedError {
  const remedy = canEdit
    ? `\`skill-registry proposals edit ${id}\` opens its text with both sides of the conflict. Or reject it, and make a new proposal.`
    : 'Reject it, and make a new proposal if it is still wanted.';
  const message = `The proposal ${id} is stale: ${reason} ${remedy}\n${showHidden(conflict)}`;
  return new CodedError('PROPOSAL_STALE', message.trimEnd(), { id, conflict });
}

export function skillGone(skillId: string): string {
  return `the skill "${skillId}" does not exist any more.`;
}

export function proposalChanged(id: string): CodedError {
  const message = `The proposal ${id} has been edited since you read it. Nothing was done. Read it again (\`skill-registry proposals show ${id}\`), then decide.`;
  return new CodedError('PROPOSAL_CHANGED', message, { id });
}

export function conflictMarkLeft(line: number, text: string): CodedError {
  const message = `Line ${line} is still a conflict mark (${quoted(text, 40)}). Nothing was done. Keep what you want of both sides and remove the lines with marks.`;
  return new CodedError('PROPOSAL_CONFLICT', message, { line });
}

export function fileEditedMessage(id: string, state: string, file: string, hasText: boolean): string {
  const what = `Somebody has edited the report of the proposal ${id}, but the registry never reads a report. The edited text is kept in ${file}. Remove that file when you do not need it, and this message ends.`;
  if (state !== 'open' && state !== 'stale') return `${what} The proposal is ${state}, so the edit has no effect.`;
  if (!hasText) return `${what} The proposal is a removal, which has no text to change: approve or reject it.`;
  return `${what} To change the proposal, take its text (\`skill-registry proposals show ${id} --proposed > FILE\`), edit that, and give it back: \`skill-registry proposals edit ${id} --from FILE\`.`;
}

export function proposalFileEdited(id: string, message: string): CodedError {
  const advice = 'Nothing was decided. Approve again to apply the proposal without that edit.';
  return new CodedError('PROPOSAL_FILE_EDITED', `${message} ${advice}`, { id });
}

export function proposalDuplicate(id: string): CodedError {
  const message = `The open proposal ${id} proposes the same change. Wait until it is decided, or propose another change.`;
  return new CodedError('PROPOSAL_DUPLICATE', message, { id });
}

export function proposalRejected(id: string, by: string, at: string, reason: string): CodedError {
  const message = `The proposal ${id} had the same content, and ${showHidden(by)} rejected it at ${at}: ${showHidden(reason.trim().replace(/[.!?]?$/, '.'))} Do not propose this content again: propose a change that meets the reason, or tell the user why it is needed all the same.`;
  return new CodedError('PROPOSAL_REJECTED', message, { id, by, at, reason });
}

export function proposalLimit(skillId: string, author: string, ids: readonly string[]): CodedError {
  const message = `${ids.length} proposals of ${showHidden(author)} for "${skillId}" wait for a decision, which is the most: ${ids.join(', ')}. Go on without the change until one of them is decided, or tell the user that they wait.`;
  return new CodedError('PROPOSAL_LIMIT', message, { skill_id: skillId, ids });
}

export function diffFailed(reason: string): CodedError {
  return new CodedError('PROPOSAL_DIFF_FAILED', `The diff does not apply. ${reason}`);
}

export function editDenied(id: string): CodedError {
  const message = `Only a person edits a proposal; an agent proposes another change, or recommends what to do with ${id}.`;
  return new CodedError('WRITE_DENIED', message, { id });
}

// --- internal ---

interface Decided extends Pick<Proposal, 'id' | 'kind' | 'state'> {
  readonly skill_id: string;
  readonly decided_by: string | null;
  readonly decided_at: string | null;
}

const UNDO: Readonly<Record<Proposal['kind'], (skillId: string) => string>> = {
  update: (id) =>
    `To undo it, roll the skill back: \`skill-registry history ${id}\` lists its revisions, \`skill-registry rollback ${id} REVISION\` restores one.`,
  delete: (id) => `To undo it: \`skill-registry restore ${id}\` restores it.`,
  create: () => 'To undo it, remove the folder of the skill; its history keeps the content.',
};

const FEW = 5;

function fewOf(ids: readonly string[]): string {
  return ids.slice(0, FEW).join(', ') + (ids.length > FEW ? ' ...' : '');
}
