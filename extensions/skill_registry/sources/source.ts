import { relative } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { rootNotApproved } from '../../../kernel/host.ts';
import { futureRealPath, isInside, isReserved, resourceNotFound } from '../../../lib/files/index.ts';
import type { SkillRegistryConfig, ValidationProfile } from '../config/config.ts';
import type { ResourceInfo, Skill } from '../skill/skill.ts';
import type { PackScopes } from './types.ts';

/** One ordered place skills come from, whatever kind it is; programs write an `OwnSource`. Implementations never throw from `scan`: what is wrong is a problem. */
export interface SkillSource {
  /** Unique among the sources; the first half of a qualified id. */
  readonly id: string;
  readonly kind: string;
  /** For people: the folder, absolute. */
  readonly location: string;
  /** It is left out while a source before it has a skill. Default: false. */
  readonly ifNone?: boolean;
  /**
   * Finds every skill. What has not changed since the last scan is taken over, not read again.
   *
   * @param sources - All sources of the registry, this one too, for links that lead from one to another. Default: none.
   * @throws only when the source as a whole cannot be looked at; the catalog then keeps what it had.
   */
  scan(
    limits: SkillRegistryConfig['limits'],
    takeBreak: () => Promise<void>,
    sources?: readonly SkillSource[],
  ): Promise<SourceScan>;
  /** The bytes of SKILL.md. @throws RESOURCE_NOT_FOUND, RESOURCE_TOO_LARGE, PATH_TRAVERSAL. */
  readSkill(skill: Skill, maxBytes: number): Buffer;
  /** Files beside SKILL.md by path, at most 512. */
  resources(skill: Skill): readonly ResourceInfo[];
  /** `resources`, and how many others are never handed out (`leftOut` of the registry). Absent: none are left out. */
  listing?(skill: Skill): SkillListing;
  /** @throws as `readContained` of the kernel. */
  readResource(skill: Skill, path: string, maxBytes: number): Buffer;
  /** Folders in which a change may concern this source; they need not exist. */
  watchFolders(): readonly string[];
  /** Hands in what is to be called when the skills have changed. Absent: nobody says so. @returns unsubscribes. */
  subscribe?(changed: () => void): () => void;
  /** Of a prompt pack, as it was scanned last. */
  scopes?(): PackScopes | undefined;
  /** Whether a real, absolute path lies in it. */
  contains(path: string): boolean;
  /** Whether a real, absolute path lies in what Node loads code from. Absent: none does. */
  isCode?(path: string): boolean;
  /** The folder in which skills may be made and changed, and whose rules they are held to. Absent: nothing is written here. */
  readonly writing?: { readonly folder: string; readonly validation: ValidationProfile } | undefined;
}

/** Files of a skill beside SKILL.md. */
export interface SkillListing {
  readonly files: readonly ResourceInfo[];
  /** How many files and folders are left out, because they are never handed out. */
  readonly leftOut: number;
}

export interface SourceScan {
  /** In order of path. */
  readonly skills: readonly Skill[];
  /** Skills of the source that lost their id within it; readable by qualified id. */
  readonly losers?: readonly Skill[];
  readonly problems: readonly Problem[];
}

/**
 * What a source found last. A skill that is handed in is looked up here and the paths in it are never used, so that nobody
 * reads a file by making up a skill.
 */
export interface OwnSkills<T> {
  replace(found: ReadonlyMap<string, T>): void;
  /** As `replace`, with the work put off until somebody asks. */
  replaceLater(find: () => ReadonlyMap<string, T>): void;
  find(skill: Skill): T | undefined;
  /** @throws RESOURCE_NOT_FOUND. */
  get(skill: Skill): T;
}

/** Keyed by qualified id. */
export function createOwnSkills<T>(): OwnSkills<T> {
  let known: ReadonlyMap<string, T> | undefined = new Map();
  let later = (): ReadonlyMap<string, T> => new Map();
  const all = (): ReadonlyMap<string, T> => {
    known ??= later();
    return known;
  };
  return {
    replace(found) {
      known = found;
    },
    replaceLater(find) {
      known = undefined;
      later = find;
    },
    find: (skill) => all().get(skill.qualifiedId),
    get(skill) {
      const own = all().get(skill.qualifiedId);
      if (own === undefined) throw resourceNotFound(skill.qualifiedId, 'its source has no such skill');
      return own;
    },
  };
}

/** What is wrong with a source in a folder that the registry keeps for itself; undefined anywhere else. @param real - Its real path. */
export function reservedSource(location: string, real: string): Problem | undefined {
  if (!isReserved(real)) return undefined;
  const message =
    'This source lies in data/ of the root, or where a link of that leads, which the registry keeps for itself, so it was not read. Move the skills out of there.';
  return { code: 'SOURCE_RESERVED', severity: 'error', file: location, message };
}

/** What is read of a root that nobody has approved really lies in `folder`: the root, or one above it that a preset looks in. */
export interface OnlyWithin {
  readonly folder: string;
  readonly root: string;
}

/** ROOT_NOT_APPROVED for a source to which a link leads from there. */
export function linkedOut(location: string, real: string, only: OnlyWithin | undefined): Problem | undefined {
  if (!only || isInside(real, futureRealPath(only.folder))) return undefined;
  return rootNotApproved(only.root, [`${relative(only.root, location)} (a link that leads out of it)`]);
}
