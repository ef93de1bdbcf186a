import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tempFolder } from './temp-folder.ts';

/** Why tests that mount a file system are skipped here; '' where they run: as root on Linux. */
export const CANNOT_MOUNT: string = whyNot(() => {
  const dir = join(tmpdir(), `skill-registry-mount-${process.pid}`);
  mkdirSync(dir);
  try {
    mount(dir, '64k');
    execFileSync('umount', [dir], { stdio: 'pipe' });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

export interface Disk {
  /** Where it is mounted, absolute and real. */
  readonly dir: string;
  /** The file that takes all room. */
  readonly filler: string;
  /** Takes all room that is left. */
  fill(): void;
  /** Gives it back. */
  free(): void;
  setReadOnly(isReadOnly: boolean): void;
}

/** A file system of its own, gone when the test has finished. Only where `CANNOT_MOUNT` is ''. @param size - `2m`. */
export function smallDisk(size: string): Disk {
  const dir = tempFolder();
  mount(dir, size);
  // Files that are still open keep nobody from it. Before the folder is removed: what was registered last runs first.
  onTestFinished(() => void execFileSync('umount', ['--lazy', dir]));
  const filler = join(dir, '.filler');
  return {
    dir,
    filler,
    fill: () => fill(filler),
    free: () => rmSync(filler, { force: true }),
    setReadOnly: (isReadOnly) => void execFileSync('mount', ['-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, dir]),
  };
}

/** The same file or folder once more, where it may not be written. Only where `CANNOT_MOUNT` is ''. @param at - Default: a new folder. */
export function readOnlyView(path: string, at: string = tempFolder()): string {
  execFileSync('mount', ['--bind', path, at]);
  onTestFinished(() => void execFileSync('umount', ['--lazy', at]));
  execFileSync('mount', ['-o', 'remount,ro,bind', at]);
  return at;
}

/** Why tests that need a second file system are skipped here; '' where they run. */
export const NOWHERE_ELSE: string =
  CANNOT_MOUNT === '' || isOther('/dev/shm') ? '' : 'there is only one file system here';

/** A new folder on another file system than `tempFolder` gives. Only where `NOWHERE_ELSE` is ''. */
export function folderElsewhere(): string {
  if (CANNOT_MOUNT === '') return smallDisk('16m').dir;
  const dir = `/dev/shm/skill-registry-${process.pid}-${performance.now()}`;
  mkdirSync(dir);
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

// --- internal ---

function isOther(folder: string): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false });
  return stats !== undefined && stats.dev !== statSync(tmpdir()).dev;
}

function mount(dir: string, size: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', dir], { stdio: 'pipe' });
}

function whyNot(attempt: () => void): string {
  try {
    attempt();
    return '';
  } catch (error) {
    return `a file system cannot be mounted here: ${String(error instanceof Error ? error.message : error).split('\n')[0]}`;
  }
}

function fill(file: string): void {
  const descriptor = openSync(file, 'a');
  try {
    for (let size = 65_536; size >= 1; size = Math.floor(size / 2)) {
      while (fits(descriptor, size)) {
        // Until it is full.
      }
    }
  } finally {
    closeSync(descriptor);
  }
}

function fits(descriptor: number, size: number): boolean {
  try {
    return writeSync(descriptor, Buffer.alloc(size)) > 0;
  } catch {
    return false;
  }
}
