import { mergeTexts } from '../../../lib/diff/index.ts';
import type { ChangeContext } from '../history/change-context.ts';
import { getBlob } from '../history/revisions.ts';
import { lockedFiles } from './digest.ts';
import type { LockEntry } from './lock.ts';
import type { IncomingFile } from './offer.ts';

/** What an update does to one file. */
export interface FileUpdate {
  readonly path: string;
  /**
   * `added`, `changed`, `removed`: as the origin has it; `kept`: only changed here; `merged`: changed here and there; `conflict`: in the
   * same lines, or what was installed is not known any more: it stays as it is here, and a proposal asks what it is to be.
   */
  readonly change: 'added' | 'changed' | 'removed' | 'kept' | 'merged' | 'conflict';
}

export interface FileConflict {
  readonly path: string;
  /** As it was installed; undefined: not known any more. */
  readonly base: Buffer | undefined;
  /** As the origin has it. */
  readonly theirs: Buffer;
}

export interface MergedFiles {
  readonly updates: readonly FileUpdate[];
  /** All files of the skill afterwards. */
  readonly result: readonly IncomingFile[];
  readonly conflicts: readonly FileConflict[];
}

/** Brings together what somebody changed here with what the origin has now; what was installed is the base of both. */
export function mergeFiles(
  context: ChangeContext,
  here: readonly IncomingFile[],
  entry: LockEntry,
  theirs: readonly IncomingFile[],
): MergedFiles {
  const base = new Map((entry.registry?.files ?? []).map((line) => [line.split(' ').slice(3).join(' '), line]));
  const mine = new Map(here.map((file) => [file.path, file]));
  const yours = new Map(theirs.map((file) => [file.path, file]));
  const updates: FileUpdate[] = [];
  const result: IncomingFile[] = [];
  const conflicts: FileConflict[] = [];
  for (const path of [...new Set([...mine.keys(), ...yours.keys()])].sort()) {
    const [one, other, installed] = [mine.get(path), yours.get(path), base.get(path)];
    const outcome = mergeFile(context, one, other, installed);
    if (outcome.file) result.push(outcome.file);
    if (outcome.change) updates.push({ path, change: outcome.change });
    if (outcome.change === 'conflict' && other)
      conflicts.push({ path, base: contentOf(context, installed), theirs: other.bytes });
  }
  return { updates, result, conflicts };
}

// --- internal ---

interface Outcome {
  /** Absent: it is not there afterwards. */
  readonly file?: IncomingFile | undefined;
  /** Absent: nothing changes, here or there. */
  readonly change?: FileUpdate['change'];
}

function mergeFile(
  context: ChangeContext,
  mine: IncomingFile | undefined,
  theirs: IncomingFile | undefined,
  installed: string | undefined,
): Outcome {
  const [here, there] = [mine && lineOf(mine), theirs && lineOf(theirs)];
  if (here === there) return { file: mine };
  if (there === installed) return { file: mine, change: 'kept' };
  if (here === installed) return { file: theirs, change: !theirs ? 'removed' : mine ? 'changed' : 'added' };
  // Changed here and gone there, or the other way round: what a person did stays.
  if (!mine || !theirs) return { file: mine, change: 'kept' };
  const base = contentOf(context, installed);
  const merge = base && mergeTexts(base.toString('utf8'), mine.bytes.toString('utf8'), theirs.bytes.toString('utf8'));
  const isText = [base, mine.bytes, theirs.bytes].every(
    (bytes) => bytes && Buffer.from(bytes.toString('utf8')).equals(bytes),
  );
  if (merge?.clean && isText) return { file: { ...theirs, bytes: Buffer.from(merge.text) }, change: 'merged' };
  return { file: mine, change: 'conflict' };
}

function lineOf(file: IncomingFile): string {
  return lockedFiles([file]).files[0] ?? '';
}

/** The history keeps what was installed by its digest. */
function contentOf({ writer }: ChangeContext, line: string | undefined): Buffer | undefined {
  if (line === undefined || !writer.hasHistory()) return undefined;
  try {
    return getBlob(writer.database(), line.split(' ')[0] ?? '');
  } catch {
    return undefined;
  }
}
