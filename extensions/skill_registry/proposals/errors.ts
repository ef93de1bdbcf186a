import { CodedError, describeError, isCodedError } from 'skill-registry/kernel';

/** What proposals, revisions and direct changes throw, beside the codes of the registry and of files. */
export type HistoryErrorCode =
  | 'HISTORY_BUSY'
  | 'HISTORY_DAMAGED'
  | 'HISTORY_NEWER'
  | 'PROPOSAL_DECIDED'
  | 'PROPOSAL_DIFF_FAILED'
  | 'PROPOSAL_DUPLICATE'
  | 'PROPOSAL_FILE_INVALID'
  | 'PROPOSAL_NOT_FOUND'
  | 'PROPOSAL_NOT_REJECTED'
  | 'PROPOSAL_NO_CHANGE'
  | 'PROPOSAL_STALE'
  | 'REVISION_INCOMPLETE'
  | 'REVISION_NOT_FOUND'
  | 'SKILL_EXISTS'
  | 'SKILL_INVALID'
  | 'SOURCE_NOT_WRITABLE'
  | 'WRITE_DENIED';

type HistoryError = CodedError<HistoryErrorCode>;

/** What an error of the database means. A file that may not be written is not damaged, and one that others hold is not, either. */
export function historyUnusable(file: string, cause: unknown): CodedError {
  if (isCodedError(cause)) return cause;
  const code = String((cause as { code?: unknown }).code);
  if (/^SQLITE_(BUSY|LOCKED)/.test(code))
    return new CodedError('HISTORY_BUSY', `Somebody else holds ${file}. Try again.`);
  if (/^(E[A-Z]+|SQLITE_(READONLY|CANTOPEN|FULL|PERM).*)$/.test(code)) {
    const message = `The history in ${file} cannot be written (${describeError(cause)}). Whoever changes skills needs the right to.`;
    return new CodedError('WRITE_FAILED', message, { file }, cause);
  }
  const message =
    `The history in ${file} cannot be used (${describeError(cause)}). Skills are read as ever, but nothing is changed: put a ` +
    'backup in its place, or move it away to begin a new history.';
  return new CodedError('HISTORY_DAMAGED', message, { file }, cause);
}

export function historyNewer(file: string, found: number, known: number): HistoryError {
  const message = `The history in ${file} has version ${found}, and this release knows versions up to ${known}. Use the newer release.`;
  return new CodedError('HISTORY_NEWER', message, { file, found, known });
}

export function historyBusy(seconds: number): HistoryError {
  const message = `Another process has been changing skills for ${seconds} seconds. Try again; nothing was changed.`;
  return new CodedError('HISTORY_BUSY', message);
}

export function proposalNotFound(wanted: string, known: readonly string[]): HistoryError {
  const some = known.slice(0, 5).join(', ');
  const message = `No proposal ${JSON.stringify(wanted.slice(0, 100))}.${some ? ` There are: ${some}${known.length > 5 ? ' ...' : ''}` : ' There are none.'}`;
  return new CodedError('PROPOSAL_NOT_FOUND', message, { known });
}

export function proposalAmbiguous(wanted: string, matching: readonly string[]): HistoryError {
  const message = `${JSON.stringify(wanted.slice(0, 100))} begins or ends several proposals: ${matching.slice(0, 5).join(', ')}. Give more of the id.`;
  return new CodedError('PROPOSAL_NOT_FOUND', message, { known: matching });
}

export function proposalDecided(id: string, state: string, by: string, at: string): HistoryError {
  const message = `The proposal ${id} has been ${state} by ${by} at ${at}; a decision is not taken twice.`;
  return new CodedError('PROPOSAL_DECIDED', message, { id, state, by, at });
}

export function proposalNotRejected(id: string, state: string): HistoryError {
  const why =
    state === 'approved'
      ? 'its text is part of the history of the skill; roll back, and remove it from there by hand.'
      : 'reject it first.';
  return new CodedError(
    'PROPOSAL_NOT_REJECTED',
    `The proposal ${id} is ${state}, and only rejected ones are purged: ${why}`,
    {
      id,
      state,
    },
  );
}

export function proposalStale(id: string, reason: string, conflict: string): HistoryError {
  const message = `The proposal ${id} is stale: ${reason} Edit its file or make a new proposal against the present text.\n${conflict}`;
  return new CodedError('PROPOSAL_STALE', message.trimEnd(), { id, conflict });
}

export function proposalDuplicate(id: string): HistoryError {
  const message = `The open proposal ${id} asks for the same change. Wait for its review, or propose something else.`;
  return new CodedError('PROPOSAL_DUPLICATE', message, { id });
}

export function proposalFileInvalid(file: string, problem: string): HistoryError {
  const message = `The proposal's file ${file} was edited and cannot be used: ${problem} Correct it, or undo the edit.`;
  return new CodedError('PROPOSAL_FILE_INVALID', message, { file });
}

export function diffFailed(reason: string): HistoryError {
  return new CodedError('PROPOSAL_DIFF_FAILED', `The diff does not apply. ${reason}`);
}

export function noChange(path: string): HistoryError {
  return new CodedError('PROPOSAL_NO_CHANGE', `"${path}" has this content already; there is nothing to change.`);
}

/** @param reasons - Of the validation, one line each. */
export function skillInvalid(skillId: string, reasons: readonly string[]): HistoryError {
  const shown = reasons
    .slice(0, 10)
    .map((reason) => `\n- ${reason}`)
    .join('');
  const message = `"${skillId}" would not be a valid skill after this change; nothing was written.${shown}`;
  return new CodedError('SKILL_INVALID', message, { reasons });
}

export function skillExists(skillId: string, where: string): HistoryError {
  const message = `Skill '${skillId}' already exists (${where}). Change it instead, or take another name.`;
  return new CodedError('SKILL_EXISTS', message, { skill_id: skillId });
}

export function sourceNotWritable(skillId: string, source: string, why: string): HistoryError {
  const message = `"${skillId}" comes from the source "${source}", where nothing is written: ${why}`;
  return new CodedError('SOURCE_NOT_WRITABLE', message, { skill_id: skillId, source });
}

export function writeDenied(action: string): HistoryError {
  const message = `writes.${action} is deny: the owner of these skills does not allow it. Tell the user what you wanted to change.`;
  return new CodedError('WRITE_DENIED', message, { action });
}

export function revisionNotFound(skillId: string, wanted: string, last: number): HistoryError {
  const known = last > 0 ? `its revisions are 1 to ${last}` : 'it has no history';
  const message = `"${skillId}" has no revision ${JSON.stringify(wanted.slice(0, 80))}: ${known}. Give a number, or the first characters of a digest.`;
  return new CodedError('REVISION_NOT_FOUND', message, { skill_id: skillId, last });
}

export function revisionIncomplete(skillId: string, paths: readonly string[]): HistoryError {
  const message = `That revision of "${skillId}" cannot be brought back whole: too large to have been kept: ${paths.join(', ')}.`;
  return new CodedError('REVISION_INCOMPLETE', message, { skill_id: skillId, paths });
}
