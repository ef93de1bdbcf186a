import { CodedError, describeError } from 'skill-registry/kernel';
import { showHidden } from '../../../../lib/text/index.ts';

export type HistoryRefusal = 'busy' | 'full' | 'readonly' | 'cantopen' | 'io' | 'other';

export function historyRefused(refusal: HistoryRefusal, file: string, cause: unknown): CodedError {
  const message = `The history in ${file} ${REFUSALS[refusal].replace('WHY', () => describeError(cause))}`;
  return new CodedError(CODES[refusal] ?? 'WRITE_FAILED', message, { file }, cause);
}

/** A stranger's text for a message: in quotes, hidden characters as `⟦U+2028⟧`, cut after `limit` characters. */
export function quoted(text: string, limit: number = 200): string {
  return JSON.stringify(showHidden(text.slice(0, limit)));
}

export function historyDamaged(file: string, verdict: string): CodedError {
  const message =
    `The history in ${file} is damaged (${verdict.replace(/\s+/g, ' ')}). Skills can be read, but not changed. Stop every process that uses it, and ${MOVE_AWAY}. ` +
    'Then put a backup there, or let the next change begin a new history.';
  return new CodedError('HISTORY_DAMAGED', message, { file });
}

/** history.db has a row or table that this registry did not write. It is never used. */
export function rowRefused(what: string): CodedError {
  const message =
    `history.db has ${what}. A registry with these sources does not write that, so it was not used. If somebody changed the ` +
    `sources, change them back. Otherwise ${MOVE_AWAY}, and put a backup there if you have one.`;
  return new CodedError('HISTORY_ROW_REFUSED', message);
}

export interface Unfinished {
  /** Key of the skill's location; empty when unknown. */
  readonly key: string;
  /** Empty when unknown. */
  readonly skillId: string;
  /** `undo`: must be undone. `settle`: only leftovers must be removed. `waiting`: until the root is approved. */
  readonly state: 'undo' | 'settle' | 'waiting';
  readonly error?: unknown;
}

/** Thrown for this and the skill's next change, and listed as a problem. */
export function changeUnfinished({ skillId, state, error }: Unfinished): CodedError {
  const [name, why] = [JSON.stringify(skillId), describeError(error).replace(/\.?$/, '.')];
  const message = {
    undo: `A change of ${name} failed, or its process ended before it was finished, and it cannot be undone yet: ${why} Its files may have the new content, which nobody has approved. Remove the cause; the next start or the next change of a skill then undoes it. Until then ${name} cannot be changed.`,
    settle: `A change of ${name} is made, but its temporary files cannot be removed yet: ${why} Remove the cause; the next start or the next change of a skill then removes them.`,
    waiting: `A process ended before it had finished a change of ${name}. Nobody has approved this root, so the change is not undone. Approve the root (\`skill-registry approvals allow\` in it); the next start then undoes the change.`,
  }[state];
  return new CodedError('CHANGE_UNFINISHED', message, { skill_id: skillId });
}

/** What would be written differs from what a person was shown. */
export function shownChanged(skillId: string): CodedError {
  const message = `${quoted(skillId)} has changed since its difference was shown. It was not written: look again.`;
  return new CodedError('SHOWN_CHANGED', message);
}

export function noChange(path: string): CodedError {
  return new CodedError('PROPOSAL_NO_CHANGE', `"${path}" has this content already; there is nothing to change.`);
}

export function skillExists(
  skillId: string,
  where: string,
  advice: string = 'Change it instead, or take another name.',
): CodedError {
  const message = `Skill '${skillId}' already exists (${where}). ${advice}`;
  return new CodedError('SKILL_EXISTS', message, { skill_id: skillId });
}

export function sourceNotWritable(skillId: string, source: string, why: string): CodedError {
  const message = `"${skillId}" belongs to the source "${source}", in which it cannot be written: ${why}`;
  return new CodedError('SOURCE_NOT_WRITABLE', message, { skill_id: skillId, source });
}

export function writeDenied(action: string, because: string = `writes.${action} is deny`): CodedError {
  const message = `The owner of these skills does not allow this (${because}). Tell the user what you wanted to change.`;
  return new CodedError('WRITE_DENIED', message, { action });
}

// --- internal ---

/** SQLite would apply an old `-wal` to the backup. */
const MOVE_AWAY = 'move history.db, history.db-wal and history.db-shm away together';

/** Default: WRITE_FAILED. */
const CODES: Partial<Record<HistoryRefusal, string>> = {
  busy: 'HISTORY_BUSY',
  io: 'STORE_UNAVAILABLE',
  other: 'STORE_UNAVAILABLE',
};

/** WHY: what the system says. */
const REFUSALS: Readonly<Record<HistoryRefusal, string>> = {
  busy: 'is locked by another process. Nothing was changed. Try again; if it stays so, end that process.',
  full: 'cannot be written, because the disk is full or a limit is reached (WHY). Nothing was changed. Free some space and try again.',
  readonly:
    'cannot be written, because this user may not (WHY). Nothing was changed. It can be read. To change skills, give this user the right to write the file and its folder.',
  cantopen:
    'cannot be opened for writing or created (WHY). Nothing was changed. Check that its folder is a folder, and that this user may write in it.',
  io: 'could not be read or written (WHY). Nothing was changed, and no check finds it damaged. Possible causes: a full or failing disk, a quota, a limit on the size of files. Remove the cause and try again.',
  other: `cannot be used (WHY), and no check finds it damaged. Skills can be read, but not changed. Try again. If that does not help, stop every process that uses it, ${MOVE_AWAY}, and put a backup there.`,
};
