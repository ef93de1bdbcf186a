import { CodedError, describeError } from 'skill-registry/kernel';

/** What proposals, revisions and direct changes throw, beside the codes of the registry and of files. */
export type HistoryErrorCode =
  | 'CHANGE_UNFINISHED'
  | 'HISTORY_BUSY'
  | 'HISTORY_DAMAGED'
  | 'HISTORY_NEWER'
  | 'HISTORY_ROW_REFUSED'
  | 'PROPOSAL_CHANGED'
  | 'PROPOSAL_CONFLICT'
  | 'PROPOSAL_DECIDED'
  | 'PROPOSAL_DIFF_FAILED'
  | 'PROPOSAL_DUPLICATE'
  | 'PROPOSAL_FILE_EDITED'
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

/** Why the history cannot be used, where nothing says that what is in it is wrong. */
export type HistoryRefusal = 'busy' | 'full' | 'readonly' | 'cantopen' | 'io' | 'other';

export function historyRefused(refusal: HistoryRefusal, file: string, cause: unknown): CodedError {
  const { code, text } = REFUSALS[refusal];
  return new CodedError(code, text(`The history in ${file}`, describeError(cause)), { file }, cause);
}

/** @param verdict - Of the integrity check. */
export function historyDamaged(file: string, verdict: string): HistoryError {
  const message =
    `The history in ${file} is damaged (${verdict}). Skills are read as ever, but nothing is changed: put a backup in its place, ` +
    'or move it away to begin a new history.';
  return new CodedError('HISTORY_DAMAGED', message, { file });
}

/** What is in the history, but this registry has not written: it is not acted upon. */
export function rowRefused(what: string): HistoryError {
  const message =
    `history.db has ${what}. A registry with these sources does not write that, so nothing was done with it. If sources were ` +
    'changed, change them back; if the folder came from somebody else, move its history.db away; else put a backup in its place.';
  return new CodedError('HISTORY_ROW_REFUSED', message);
}

/** A change of a skill whose end is still to come. */
export interface Unfinished {
  /** Of the journal. */
  readonly id: string;
  /** Key of its place and id of its skill, as far as they are known. */
  readonly key: string;
  readonly skillId: string;
  /** `undo`: it is to be undone; `settle`: it is made, and leftovers are to go; `waiting`: this root is left as it is. */
  readonly state: 'undo' | 'settle' | 'waiting';
  readonly error?: unknown;
}

/** For whoever asked for the change, for whoever asks for the next one of the skill, and for the list of problems. */
export function changeUnfinished({ skillId, state, error }: Unfinished): HistoryError {
  const [name, why] = [JSON.stringify(skillId), describeError(error).replace(/\.?$/, '.')];
  const message = {
    undo: `A change of ${name} failed, or its process ended in the middle, and it cannot be undone yet: ${why} Its files may have the new content, which counts as approved by nobody. Mend the cause: it is undone when skills are changed next, or at the next start, and until then ${name} is not changed.`,
    settle: `A change of ${name} is made, but what it had put aside cannot be removed yet: ${why} It is tried again when skills are changed next, and at the next start.`,
    waiting: `A process ended in the middle of a change of ${name}, and in this root nothing is undone before somebody approves it.`,
  }[state];
  return new CodedError('CHANGE_UNFINISHED', message, { skill_id: skillId });
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

/** @param canEdit - Whether there is a text to put another in the place of. */
export function proposalStale(id: string, reason: string, conflict: string, canEdit: boolean): HistoryError {
  const remedy = canEdit
    ? `\`skill-registry proposals edit ${id}\` opens its text against the present one; or make a new proposal.`
    : 'Reject it, and make a new proposal if it is still wanted.';
  const message = `The proposal ${id} is stale: ${reason} ${remedy}\n${conflict}`;
  return new CodedError('PROPOSAL_STALE', message.trimEnd(), { id, conflict });
}

export function proposalChanged(id: string): HistoryError {
  const message = `The proposal ${id} has been edited since it was looked at. Nothing was done: look at it again (\`skill-registry proposals show ${id}\`).`;
  return new CodedError('PROPOSAL_CHANGED', message, { id });
}

export function conflictLeft(line: number, text: string): HistoryError {
  const message = `Line ${line} is still a mark of a conflict (${JSON.stringify(text.slice(0, 40))}). Nothing was done: keep what is wanted of both sides, and remove the lines of marks.`;
  return new CodedError('PROPOSAL_CONFLICT', message, { line });
}

/** What somebody has written into a report is kept in `file`. */
export function fileEditedMessage(id: string, state: string, file: string): string {
  const what = `Somebody has edited the report of the proposal ${id}, which is written and never read. What they wrote is kept in ${file}.`;
  if (state !== 'open' && state !== 'stale') return `${what} The proposal is ${state}: nothing comes of it.`;
  return `${what} To change the proposal, take its text (\`skill-registry proposals show ${id} --proposed > FILE\`), edit that, and give it back: \`skill-registry proposals edit ${id} --from FILE\`.`;
}

export function proposalFileEdited(id: string, message: string): HistoryError {
  return new CodedError(
    'PROPOSAL_FILE_EDITED',
    `${message} Nothing was decided; approve once more to apply it as it is.`,
    {
      id,
    },
  );
}

export function proposalDuplicate(id: string): HistoryError {
  const message = `The open proposal ${id} asks for the same change. Wait for its review, or propose something else.`;
  return new CodedError('PROPOSAL_DUPLICATE', message, { id });
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

export function codeDenied(skillId: string): HistoryError {
  const message = `"${skillId}", or the file in it, is code (below extensions/, where a link in there leads, or in a package that is a source), and only a person puts that into effect. Propose the change with propose_skill_update and tell the user.`;
  return new CodedError('WRITE_DENIED', message, { skill_id: skillId });
}

export function editDenied(id: string): HistoryError {
  const message = `Only a person edits a proposal; an agent proposes another change, or recommends what to do with ${id}.`;
  return new CodedError('WRITE_DENIED', message, { id });
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

// --- internal ---

interface RefusalText {
  readonly code: string;
  text(history: string, why: string): string;
}

const REFUSALS: Readonly<Record<HistoryRefusal, RefusalText>> = {
  busy: {
    code: 'HISTORY_BUSY',
    text: (history) => `${history} is held by somebody else. Nothing was changed. Try again.`,
  },
  full: {
    code: 'WRITE_FAILED',
    text: (history, why) =>
      `${history} cannot be written: the disk is full, or a limit is reached (${why}). Nothing was changed. Make room and try again.`,
  },
  readonly: {
    code: 'WRITE_FAILED',
    text: (history, why) =>
      `${history} may not be written (${why}). Nothing was changed. It can be read; whoever changes skills needs the right to write there.`,
  },
  cantopen: {
    code: 'WRITE_FAILED',
    text: (history, why) =>
      `${history} cannot be opened for writing, or made (${why}). Nothing was changed. Look at the folder it is in.`,
  },
  io: {
    code: 'STORE_UNAVAILABLE',
    text: (history, why) =>
      `${history} could not be read or written (${why}): a full or failing disk, a quota, or a limit on the size of files. Nothing was changed, and nothing says that it is damaged. Mend that and try again.`,
  },
  other: {
    code: 'STORE_UNAVAILABLE',
    text: (history, why) =>
      `${history} cannot be used (${why}), though no check finds it damaged. Skills are read as ever, but nothing is changed. Try again; if it stays so, put a backup in its place.`,
  },
};
