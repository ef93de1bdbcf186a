import { mergeTexts } from '../../../lib/diff/index.ts';
import { digestOf } from '../../../lib/digest/index.ts';
import type { UpdateConflict } from '../propose/conflict.ts';
import { lockedFiles } from './lock.ts';
import type { IncomingFile } from './opened-origin.ts';
import type { FileUpdate } from './types.ts';

export interface MergedFiles {
  readonly updates: readonly FileUpdate[];
  /** All files of the skill afterwards. */
  readonly result: readonly IncomingFile[];
  /** Of text files; what is no text stays as it is here. */
  readonly conflicts: readonly UpdateConflict[];
}

/** An installed file: its entry in the lock, and its content where that is still known. */
export interface InstalledFile {
  /** As a line of the lock. */
  readonly line: string;
  readonly bytes: Buffer | undefined;
}

/**
 * Brings together what somebody changed here with what the origin has now.
 *
 * @param installed - The base of both, by path.
 */
export function mergeFiles(
  here: readonly IncomingFile[],
  installed: ReadonlyMap<string, InstalledFile>,
  theirs: readonly IncomingFile[],
): MergedFiles {
  const mine = new Map(here.map((file) => [file.path, file]));
  const yours = new Map(theirs.map((file) => [file.path, file]));
  const updates: FileUpdate[] = [];
  const result: IncomingFile[] = [];
  const conflicts: UpdateConflict[] = [];
  for (const path of [...new Set([...mine.keys(), ...yours.keys()])].sort()) {
    const [one, other, base] = [mine.get(path), yours.get(path), installed.get(path)];
    const { file, change } = mergeFile(one, other, base);
    if (file) result.push(file);
    if (change) updates.push({ path, change });
    const sides = [base?.bytes, one?.bytes, other?.bytes];
    if (change === 'conflict' && other && sides.every((bytes) => !bytes || isText(bytes)))
      conflicts.push({ path, base: base?.bytes ?? null, theirs: other.bytes });
  }
  return { updates, result, conflicts };
}

/** Whether what was installed must be known to bring a file together. */
export function needsBase(
  mine: IncomingFile | undefined,
  theirs: IncomingFile | undefined,
  line: string | undefined,
): boolean {
  if (!mine || !theirs || line === undefined) return false;
  return new Set([lineOf(mine), lineOf(theirs), line]).size === 3;
}

/** Proposals take no NUL character. */
export function isText(bytes: Buffer): boolean {
  return !bytes.includes(0) && Buffer.from(bytes.toString('utf8')).equals(bytes);
}

// --- internal ---

interface Outcome {
  /** Absent: it is not there afterwards. */
  readonly file?: IncomingFile | undefined;
  /** Absent: nothing changes, here or there. */
  readonly change?: FileUpdate['change'];
}

function mergeFile(
  mine: IncomingFile | undefined,
  theirs: IncomingFile | undefined,
  installed: InstalledFile | undefined,
): Outcome {
  const [here, there] = [mine && lineOf(mine), theirs && lineOf(theirs)];
  if (here === there) return { file: mine };
  if (there === installed?.line) return { file: mine, change: 'kept' };
  if (here === installed?.line) return { file: theirs, change: !theirs ? 'removed' : mine ? 'changed' : 'added' };
  // Changed here and gone there, or the other way round: what a person did stays.
  if (!mine || !theirs) return { file: mine, change: 'kept' };
  const bytes = mergedBytes(mine, theirs, installed);
  if (!bytes) return { file: mine, change: 'conflict' };
  // Whoever has changed the mode decides: there are only two, so both cannot have changed it to different ones.
  const isChangedHere = !installed || mine.executable !== (installed.line.split(' ')[2] === '755');
  const { executable } = isChangedHere ? mine : theirs;
  return { file: { path: mine.path, bytes, executable }, change: 'merged' };
}

/** Undefined: somebody must decide. */
function mergedBytes(
  mine: IncomingFile,
  theirs: IncomingFile,
  installed: InstalledFile | undefined,
): Buffer | undefined {
  if (mine.bytes.equals(theirs.bytes)) return mine.bytes;
  const [digest] = installed?.line.split(' ') ?? [];
  if (digestOf(mine.bytes) === digest) return theirs.bytes;
  if (digestOf(theirs.bytes) === digest) return mine.bytes;
  const base = installed?.bytes;
  if (!base || ![base, mine.bytes, theirs.bytes].every(isText)) return undefined;
  const merge = mergeTexts(base.toString('utf8'), mine.bytes.toString('utf8'), theirs.bytes.toString('utf8'));
  return merge.clean ? Buffer.from(merge.text) : undefined;
}

function lineOf(file: IncomingFile): string {
  return lockedFiles([file]).files[0] ?? '';
}
