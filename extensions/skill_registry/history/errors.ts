import { CodedError, describeError } from 'skill-registry/kernel';
import { nearestIds, showHidden } from '../../../lib/text/index.ts';

export type HistoryRefusal = 'busy' | 'full' | 'readonly' | 'cantopen' | 'io' | 'other';

export function historyRefused(refusal: HistoryRefusal, file: string, cause: unknown): CodedError {
  const [code, what] = REFUSALS[refusal];
  const message = `The history in ${file} ${what.replace('WHY', () => describeError(cause))}`;
  return new CodedError(code, message, { file }, cause);
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
  readonly id: string;
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
    waiting: `A process ended before it had finished a change of ${name}. Nobody has approved this root, so the change is not undone. Approve the root (\`skill-registry trust allow\` in it); the next start then undoes the change.`,
  }[state];
  return new CodedError('CHANGE_UNFINISHED', message, { skill_id: skillId });
}

export function historyNewer(file: string, found: number, known: number): CodedError {
  const message = `The history in ${file} has version ${found}, and this release can use versions up to ${known}. Use the release that wrote it.`;
  return new CodedError('HISTORY_NEWER', message, { file, found, known });
}

export function historyBusy(seconds: number): CodedError {
  const message = `Another process has been changing skills for ${seconds} seconds. Nothing was changed. Try again; if it stays so, end that process.`;
  return new CodedError('HISTORY_BUSY', message);
}

/** What would be written differs from what a person was shown. */
export function shownChanged(skillId: string): CodedError {
  const message = `${quoted(skillId)} has changed since its difference was shown. It was not written: look again.`;
  return new CodedError('SHOWN_CHANGED', message);
}

export function noChange(path: string): CodedError {
  return new CodedError('PROPOSAL_NO_CHANGE', `"${path}" has this content already; there is nothing to change.`);
}

export function skillInvalid(skillId: string, reasons: readonly string[]): CodedError {
  const shown = ['', ...reasons.slice(0, 10)].join('\n- ');
  const message = `"${skillId}" would not be a valid skill after this change; nothing was written.${shown}`;
  return new CodedError('SKILL_INVALID', message, { reasons });
}

export function skillExists(
  skillId: string,
  where: string,
  advice: string = 'Change it instead, or take another name.',
): CodedError {
  const message = `Skill '${skillId}' already exists (${where}). ${advice}`;
  return new CodedError('SKILL_EXISTS', message, { skill_id: skillId });
}

export function skillRemoved(skillId: string): CodedError {
  const message = `The skill "${skillId}" was removed. \`skill-registry restore ${skillId}\` restores its last content; then roll it back.`;
  return new CodedError('SKILL_NOT_FOUND', message, { skill_id: skillId });
}

export function notRemoved(skillId: string, removed: readonly string[]): CodedError {
  const near = nearestIds(removed, skillId);
  const ids = (near.length > 0 ? near : removed.slice(0, 10)).map((id) => JSON.stringify(id)).join(', ');
  const what = ids === '' ? 'Nothing was removed here.' : `To restore: ${ids}.`;
  const id = skillId.slice(0, 100);
  const message = `There is no removed skill ${JSON.stringify(id)}. ${what}`;
  return new CodedError('SKILL_NOT_FOUND', message, { skill_id: id });
}

export function sourceNotWritable(skillId: string, source: string, why: string): CodedError {
  const message = `"${skillId}" belongs to the source "${source}", in which it cannot be written: ${why}`;
  return new CodedError('SOURCE_NOT_WRITABLE', message, { skill_id: skillId, source });
}

export function noWritableSource(skillId: string, sources: readonly { readonly id: string }[]): CodedError {
  const known = sources.map(({ id }) => id).join(', ') || 'none';
  const message = `No source takes the new skill "${skillId}", because none may be written (sources: ${known}). Add a folder to \`sources\` in data/skill_registry/config.yaml: { path: skills }.`;
  return new CodedError('SOURCE_NOT_WRITABLE', message, { skill_id: skillId, source: known });
}

export function codeDenied(skillId: string): CodedError {
  const message = `"${skillId}", or the file in it, is code (below extensions/, behind a link from there, or in a package that is a source). Only a person may change code. Propose the change, and tell the user.`;
  return new CodedError('WRITE_DENIED', message, { skill_id: skillId });
}

export function writeDenied(action: string): CodedError {
  const message = `The owner of these skills does not allow this (writes.${action} is deny). Tell the user what you wanted to change.`;
  return new CodedError('WRITE_DENIED', message, { action });
}

export function revisionAmbiguous(digest: string, numbers: readonly number[]): CodedError {
  const message = `${quoted(digest, 80)} begins the digests of the revisions ${numbers.join(', ')}. Give a number, or more of the digest.`;
  return new CodedError('REVISION_NOT_FOUND', message, { numbers });
}

/** @param last - Number of its last revision; 0 for none. @param why - A sentence. */
export function revisionNotFound(skillId: string, revision: string, last: number, why?: string): CodedError {
  const start = `"${skillId}" has no revision ${quoted(revision, 80)}`;
  const message =
    last > 0
      ? `${start}. It has ${last === 1 ? 'revision 1' : `the revisions 1 to ${last}`}: give one of these numbers, or at least 4 characters from the start of a digest. \`skill-registry history ${skillId}\` lists both.`
      : `${start}: nothing is recorded of it. ${why ?? ''}`.trim();
  return new CodedError('REVISION_NOT_FOUND', message, { skill_id: skillId, last });
}

export function revisionIncomplete(skillId: string, paths: readonly string[]): CodedError {
  const message = `This revision of "${skillId}" cannot be restored completely. These files were larger than limits.file_bytes, so their content was not kept: ${paths.map((path) => quoted(path)).join(', ')}. Choose another revision (\`skill-registry history ${skillId}\`), or write the skill's files by hand (\`skill-registry show ${skillId} --revision N --resource FILE\` prints what was kept). Raise limits.file_bytes so that later revisions keep them.`;
  return new CodedError('REVISION_INCOMPLETE', message, { skill_id: skillId, paths });
}

export function presentNotKept(skillId: string, paths: readonly string[]): CodedError {
  const files = paths.map((path) => quoted(path)).join(', ');
  const message = `Rolling "${skillId}" back would lose the present content of ${files}, which is not kept because it is larger than limits.file_bytes. Raise limits.file_bytes above their size, or move these files out of the skill, and roll back again.`;
  return new CodedError('REVISION_INCOMPLETE', message, { skill_id: skillId, paths });
}

// --- internal ---

/** SQLite would apply an old `-wal` to the backup. */
const MOVE_AWAY = 'move history.db, history.db-wal and history.db-shm away together';

/** WHY: what the system says. */
const REFUSALS: Readonly<Record<HistoryRefusal, readonly [code: string, what: string]>> = {
  busy: [
    'HISTORY_BUSY',
    'is locked by another process. Nothing was changed. Try again; if it stays so, end that process.',
  ],
  full: [
    'WRITE_FAILED',
    'cannot be written, because the disk is full or a limit is reached (WHY). Nothing was changed. Free some space and try again.',
  ],
  readonly: [
    'WRITE_FAILED',
    'cannot be written, because this user may not (WHY). Nothing was changed. It can be read. To change skills, give this user the right to write the file and its folder.',
  ],
  cantopen: [
    'WRITE_FAILED',
    'cannot be opened for writing or created (WHY). Nothing was changed. Check that its folder is a folder, and that this user may write in it.',
  ],
  io: [
    'STORE_UNAVAILABLE',
    'could not be read or written (WHY). Nothing was changed, and no check finds it damaged. Possible causes: a full or failing disk, a quota, a limit on the size of files. Remove the cause and try again.',
  ],
  other: [
    'STORE_UNAVAILABLE',
    `cannot be used (WHY), and no check finds it damaged. Skills can be read, but not changed. Try again. If that does not help, stop every process that uses it, ${MOVE_AWAY}, and put a backup there.`,
  ],
};
