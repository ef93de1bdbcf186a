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
import { basename, join } from 'node:path';
import { isCodedError } from '../errors/index.ts';
import { invalidPath, pathTraversal, resourceNotFound, writeFailed } from './errors.ts';
import { inParentOf, type OpenEntry, statsOf } from './open-contained.ts';
import { fileSegments } from './paths.ts';
import { assertWritable, holdsReserved } from './withheld.ts';

/** No link below the base is followed. */
export interface ContainedFolder {
  /** Absolute, real. */
  readonly base: string;
  readonly path: string;
  readonly own?: boolean;
}

export interface FolderMove {
  readonly from: ContainedFolder;
  readonly to: ContainedFolder;
  /** An unused name beside `from` and `to`, for a move between file systems. */
  readonly temporary: string;
  readonly onStep?: ((step: MoveStep) => void) | undefined;
}

/** Between file systems: a file was copied; the copy is complete; the original has the name `temporary`. */
export type MoveStep = 'copying' | 'copied' | 'aside';

/**
 * Renames a folder, or copies it between file systems: the copy and then the original get temporary names, then the
 * copy gets its final one; `commitMove` removes the original. So neither name ever shows half a folder, and `undoMove`
 * works on a full disk or from another process. Call it after a throw.
 * @throws PATH_TRAVERSAL, RESOURCE_NOT_FOUND; INVALID_ARGUMENT, also for a folder with reserved files; WRITE_FAILED,
 * also when `to` exists or an entry cannot be copied (a FIFO, a device).
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
      // Layered file systems (containers) cannot rename a folder of a lower layer. There a file marks it as copied.
      if (!renamed(here, aside)) writeFileSync(aside, '', { flag: 'wx' });
      sync();
      onStep?.('aside');
      renameSync(copy, there);
    }
    sync();
  });
}

/**
 * Works after any step before `commitMove`. May be repeated.
 * @throws WRITE_FAILED: the folder is complete under `from`, `to` or `temporary`; a later call continues.
 */
export function undoMove(move: FolderMove): void {
  const { from } = move;
  between(move, ({ here, aside, there, copy, sync }) => {
    const left = statsOf(aside);
    if (left) {
      // The copy is complete, under its temporary or its final name.
      if (!statsOf(copy) && statsOf(there)) renameSync(there, copy);
      if (!left.isDirectory()) unlinkSync(aside);
      else if (statsOf(here)) throw writeFailed(from.path, 'something else has this name now');
      else renameSync(aside, here);
    } else if (!statsOf(here) && statsOf(there)) renameSync(there, here);
    sync();
    rmSync(copy, { recursive: true, force: true });
  });
}

/** Removes the original: the move can no longer be undone. May be repeated. @throws WRITE_FAILED. */
export function commitMove(move: FolderMove): void {
  between(move, ({ here, aside, there }) => {
    const left = statsOf(aside);
    if (left && !left.isDirectory()) removeCopied(here, there);
    rmSync(aside, { recursive: true, force: true });
  });
}

// --- internal ---

/** `aside`, beside `here`: the original, or the mark that `here` is copied. `copy`: before it gets the name `there`. */
function pathsOf(source: OpenEntry, target: OpenEntry, temporary: string) {
  return {
    here: source.path,
    aside: join(source.folder, temporary),
    there: target.path,
    copy: join(target.folder, temporary),
    sync() {
      source.sync();
      target.sync();
    },
  };
}

type Paths = ReturnType<typeof pathsOf>;

/** Opens both parent folders: no folder of either path can be replaced meanwhile. */
function between({ from, to, temporary }: FolderMove, use: (paths: Paths) => void): void {
  const within = ({ base, path, own = false }: ContainedFolder, inside: (entry: OpenEntry) => void): void => {
    // A folder's name may be private for a file, such as `site.key`.
    assertWritable(base, [...fileSegments(path), ''], own);
    inParentOf(base, path, inside, { make: true, own });
  };
  try {
    within(from, (source) => within(to, (target) => use(pathsOf(source, target, temporary))));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw isCodedError(error) || code === undefined ? error : writeFailed(to.path, code, error);
  }
}

function renamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EXDEV') return false;
    throw error;
  }
}

/** With modes and times; links stay links. All is synced. */
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
    throw writeFailed(basename(from), 'it is no file, folder or link, so it cannot be copied to another file system');
  utimesSync(to, stats.atime, stats.mtime);
  syncPath(to);
}

function syncPath(path: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    fsyncSync(descriptor);
  } catch (error) {
    // Some systems cannot sync a folder, or a file open for reading.
    if (!['EPERM', 'EISDIR', 'EINVAL'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Removes what the copy also has, files first. Keeps changed and added files. */
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

/** A copy has the time of its original until either changes. For others, sizes are compared. */
function isSame(a: Stats, b: Stats): boolean {
  return a.isFile() === b.isFile() && a.size === b.size && (!a.isFile() || Math.abs(a.mtimeMs - b.mtimeMs) < 1);
}
