import { lstatSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { withFallback } from '../../../../lib/errors/index.ts';
import { futureRealPath, isInside, readContained } from '../../../../lib/files/index.ts';
import { userStateDirectory, whyNotTrusted } from '../../../../lib/trust/index.ts';
import { PRESETS } from '../../core/config/preset-table.ts';
import { type Skill, slugOf } from '../../core/skill/skill.ts';
import { homeFolders } from '../../core/sources/agent-folders.ts';

/** A lock, and what it covers. Of each path at most one: a repository may bring its lock. */
export interface LockScope {
  /** The folder that has the lock: the root, or the state directory of the person. */
  readonly folder: string;
  readonly ofPerson: boolean;
  /** @param path - Real. */
  covers(path: string): boolean;
}

/** The skills that the locks list: that of the root, and that of the person for all projects. */
export interface Installed {
  has(skill: Pick<Skill, 'dir'>): boolean;
  /** Reads the files again if they have changed. */
  renew(): void;
}

/** Bytes of the lock. */
export const MAX_LOCK: number = 16 * 1024 * 1024;
export const LOCK_FILE = 'skills-lock.json';

export function lockScopes(root: string): readonly [project: LockScope, person: LockScope] {
  const real = futureRealPath(root);
  const own = new Set(Object.values(PRESETS).map(({ project }) => join(real, project)));
  const homes = homeFolders(homedir())
    .map((folder) => futureRealPath(folder))
    .filter((folder) => !own.has(folder));
  const isOfPerson = (path: string): boolean => homes.some((home) => isInside(path, home));
  return [
    { folder: root, ofPerson: false, covers: (path) => isInside(path, real) && !isOfPerson(path) },
    { folder: userStateDirectory(), ofPerson: true, covers: isOfPerson },
  ];
}

/** Whether something was installed for the person, in any project. */
export function hasPersonLock(): boolean {
  const file = join(userStateDirectory(), LOCK_FILE);
  return withFallback(() => lstatSync(file)) !== undefined && whyNotTrusted(file) === undefined;
}

export function createInstalled(root: string): Installed {
  const locks = lockScopes(root).map(readerOf);
  return {
    has: ({ dir }) => dir !== null && locks.some(({ all, covers }) => all().has(slugOf(basename(dir))) && covers(dir)),
    renew: () => locks.forEach((lock) => void lock.renew()),
  };
}

/** Whether this registry has installed a skill that is in this folder of agents. @param root - Of the registry. */
export function installedInto(root: string): (folder: string) => boolean {
  const locks = lockScopes(root).map(readerOf);
  return (folder) => {
    const real = futureRealPath(folder);
    const lock = locks.find(({ covers }) => covers(real));
    if (!lock || (lock.ofPerson && !hasPersonLock())) return false;
    lock.renew();
    return [...lock.ours()].some((id) => lstatSync(join(real, id), { throwIfNoEntry: false })?.isDirectory());
  };
}

/** Another text after each change; '' without a file. */
export function stampOfFile(file: string): string {
  const stats = withFallback(() => lstatSync(file, { throwIfNoEntry: false }));
  return stats ? `${stats.size} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.ino}` : '';
}

// --- internal ---

/** `ours`: ids of the entries that this registry wrote. */
function readerOf(scope: LockScope) {
  let stamp = '';
  let all: ReadonlySet<string> = new Set();
  let ours: ReadonlySet<string> = new Set();
  return {
    ...scope,
    all: () => all,
    ours: () => ours,
    renew() {
      const now = stampOfFile(join(scope.folder, LOCK_FILE));
      if (now === stamp) return;
      stamp = now;
      const entries = now === '' ? [] : entriesOf(scope);
      const idsOf = (some: typeof entries) => new Set(some.flatMap(([name]) => slugOf(name) || []));
      all = idsOf(entries);
      ours = idsOf(entries.filter(([, entry]) => Object(entry).registry !== undefined));
    },
  };
}

function entriesOf({ folder, ofPerson: own }: LockScope): readonly (readonly [name: string, entry: unknown])[] {
  const read = () => JSON.parse(readContained(realpathSync(folder), LOCK_FILE, MAX_LOCK, { own }).toString('utf8'));
  const { skills } = withFallback(read) ?? {};
  return typeof skills === 'object' && skills !== null ? Object.entries(skills) : [];
}
