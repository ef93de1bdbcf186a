import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isCodedError } from '../errors/index.ts';
import { invalidPath, pathTraversal, resourceNotFound, writeFailed } from './errors.ts';
import { statsOf, withContained } from './open-contained.ts';
import { fileSegments } from './paths.ts';
import { assertWritable, holdsReserved } from './withheld.ts';
import { syncFolder } from './write-contained.ts';

/** A folder below a base, which is absolute and real. No link is followed below it. */
export interface FolderPlace {
  readonly base: string;
  readonly path: string;
  /** It is the caller's own, see `OpenOptions`. Default: false. */
  readonly own?: boolean;
}

export interface FolderMove {
  readonly from: FolderPlace;
  readonly to: FolderPlace;
  /** Name of what lies beside both while a folder moves between file systems; nobody may use it for anything else. */
  readonly temporary: string;
  onStep?(step: MoveStep): void;
}

/** Moments of a move between file systems: at each file, when the copy is complete, when the original has left its place. */
export type MoveStep = 'copying' | 'copied' | 'aside';

/**
 * Moves a folder. Within a file system that is one step. Between two it is copied under another name, put aside where it was,
 * and the copy gets its name; what was put aside stays until `settleMove`. So it is never seen half at either place, and whatever
 * happens, `undoMove` brings it back without needing room on the disk, in another process as well. After a throw it is to be
 * called, too.
 *
 * @throws PATH_TRAVERSAL, RESOURCE_NOT_FOUND; INVALID_ARGUMENT, also when something reserved lies in it; WRITE_FAILED, also when something is there already, and for what
 *   cannot be copied (a FIFO, a device).
 */
export function moveFolder(move: FolderMove): void {
  const { from, to, onStep } = move;
  if (!from.own && holdsReserved(join(from.base, ...fileSegments(from.path))))
    throw invalidPath('the registry keeps its own files in there');
  mkdirSync(to.base, { recursive: true, mode: to.own ? 0o700 : 0o777 });
  between(move, ({ here, aside, there, copy, sync }) => {
    const stats = statsOf(here);
    if (stats?.isSymbolicLink()) throw pathTraversal();
    if (!stats?.isDirectory()) throw resourceNotFound(from.path, 'it is no folder');
    if (statsOf(there)) throw writeFailed(to.path, 'something is there already');
    if (!renamed(here, there)) {
      copyTree(here, copy, () => onStep?.('copying'));
      onStep?.('copied');
      // Layered file systems (containers) rename no folder of a lower layer: then it stays, and a file says that it was copied.
      if (!renamed(here, aside)) writeFileSync(aside, '', { flag: 'wx' });
      sync();
      onStep?.('aside');
      renameSync(copy, there);
    }
    sync();
  });
}

/**
 * Brings a folder back from any moment of a move that is not settled, and removes its copy. Does nothing a second time.
 *
 * @throws WRITE_FAILED: the folder is whole where it was, where it was to go, or aside, and a later call goes on from there.
 */
export function undoMove(move: FolderMove): void {
  const { from } = move;
  between(move, ({ here, aside, there, copy, sync }) => {
    const left = statsOf(aside);
    if (left) {
      // The copy was complete. If it is not under its first name any more, it has its last.
      if (!statsOf(copy) && statsOf(there)) renameSync(there, copy);
      if (!left.isDirectory()) unlinkSync(aside);
      else if (statsOf(here)) throw writeFailed(from.path, 'something else has taken its place');
      else renameSync(aside, here);
    } else if (!statsOf(here) && statsOf(there)) renameSync(there, here);
    sync();
    rmSync(copy, { recursive: true, force: true });
  });
}

/** Removes what a move has put aside; from then on it cannot be undone. Does nothing a second time. @throws WRITE_FAILED. */
export function settleMove(move: FolderMove): void {
  between(move, ({ here, aside, there }) => {
    const left = statsOf(aside);
    if (left && !left.isDirectory()) removeCopied(here, there);
    rmSync(aside, { recursive: true, force: true });
  });
}

// --- internal ---

interface Paths {
  readonly here: string;
  /** Beside it: the original, or a file that says that `here` has been copied. */
  readonly aside: string;
  readonly there: string;
  /** Beside it: the copy, until it gets its name. */
  readonly copy: string;
  sync(): void;
}

/** Opens the folders around both places, so that nothing on the way can be swapped. */
function between({ from, to, temporary }: FolderMove, use: (paths: Paths) => void): void {
  try {
    within(
      from,
      (source, here, aside) =>
        within(
          to,
          (target, there, copy) => {
            const sync = (): void => {
              syncFolder(source);
              syncFolder(target);
            };
            use({ here, aside, there, copy, sync });
          },
          temporary,
        ),
      temporary,
    );
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw isCodedError(error) || code === undefined ? error : writeFailed(to.path, code, error);
  }
}

function within(
  { base, path, own = false }: FolderPlace,
  use: (descriptor: number, path: string, temporary: string) => void,
  temporary: string,
): void {
  const segments = fileSegments(path);
  // A folder may be called like a key.
  assertWritable(base, [...segments, ''], own);
  const name = segments.at(-1) as string;
  withContained(
    base,
    segments.slice(0, -1),
    path,
    (descriptor, folder) => use(descriptor, join(folder, name), join(folder, temporary)),
    { folder: true, make: true, own },
  );
}

/** @returns false where they are on two file systems. */
function renamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EXDEV') return false;
    throw error;
  }
}

/** With modes and times, links as links; all of it is on disk when this returns. */
function copyTree(from: string, to: string, onFile: () => void): void {
  const stats = lstatSync(from);
  if (stats.isSymbolicLink()) {
    symlinkSync(readlinkSync(from), to);
    return;
  }
  if (stats.isDirectory()) {
    mkdirSync(to, 0o700);
    for (const name of readdirSync(from)) copyTree(join(from, name), join(to, name), onFile);
    chmodSync(to, stats.mode & 0o7777);
  } else if (stats.isFile()) {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
    onFile();
  } else
    throw writeFailed(
      from.split('/').at(-1) as string,
      'it is no file, folder or link, so it cannot be copied to another file system',
    );
  utimesSync(to, stats.atime, stats.mtime);
  syncPath(to);
}

function syncPath(path: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    fsyncSync(descriptor);
  } catch (error) {
    // Not every system can sync what is open for reading, or a folder.
    if (!['EPERM', 'EISDIR', 'EINVAL'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Removes of a folder what its copy has, and leaves what somebody has changed or added since. Files go before folders. */
function removeCopied(folder: string, copy: string): void {
  const stats = statsOf(folder);
  const copied = statsOf(copy);
  if (!stats || !copied) return;
  if (!stats.isDirectory()) {
    if (isSame(stats, copied)) unlinkSync(folder);
    return;
  }
  const entries = readdirSync(folder, { withFileTypes: true });
  for (const { name } of entries.sort((a, b) => Number(a.isDirectory()) - Number(b.isDirectory())))
    removeCopied(join(folder, name), join(copy, name));
  try {
    rmdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  }
}

/** The copy has the time of its original, and whoever writes into one of them changes it. Links are told by their size. */
function isSame(a: Stats, b: Stats): boolean {
  return a.isFile() === b.isFile() && a.size === b.size && (!a.isFile() || Math.abs(a.mtimeMs - b.mtimeMs) < 1);
}
