import { relative } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { unapprovedRootProblem } from '../../../kernel/host.ts';
import { futureRealPath, isInside, isReserved, resourceNotFound } from '../../../lib/files/index.ts';
import type { SkillRegistryConfig, ValidationProfile } from '../config/config.ts';
import { skillNotFound } from '../skill/errors.ts';
import type { ResourceInfo, Skill, SkillListing } from '../skill/skill.ts';
import type { RemoteFiles } from '../trust/types.ts';
import type { PackScopes } from './types.ts';

/** A source of skills, of any kind. Programs write a `CustomSource` instead. */
export interface SkillSource {
  /** Unique among the sources; the first half of a qualified id. */
  readonly id: string;
  readonly kind: string;
  /** Shown to people: the folder, absolute. */
  readonly location: string;
  /** What decisions of people about the source name. Default: `location`. */
  readonly key?: string;
  /** Its skills come from somebody else: they are inspected before an agent is shown them. Default: false. */
  readonly broughtIn?: boolean;
  /** Not used while an earlier source has a skill, loadable or not. Default: false. */
  readonly ifNone?: boolean;
  /**
   * Finds all skills; what is wrong with single skills is a problem. Files that have not changed since the last scan are not
   * read again.
   *
   * @param sources - All sources of the registry, including this one, for links from one to another. Default: none.
   * @throws only when the whole source cannot be scanned; the catalog then keeps the last result.
   */
  scan(limits: SkillRegistryConfig['limits'], sources?: readonly SkillSource[]): Promise<SourceScan>;
  /**
   * Reads one skill of the last scan again, after a change in its folder. Absent, or undefined: only a scan tells what it is now.
   *
   * @returns the skill, and the scan with it: the same objects when SKILL.md has not changed.
   */
  rescan?(
    skill: Skill,
    limits: SkillRegistryConfig['limits'],
  ): { readonly skill: Skill; readonly scan: SourceScan } | undefined;
  /** Reads the bytes of SKILL.md. @throws RESOURCE_NOT_FOUND, RESOURCE_TOO_LARGE, PATH_TRAVERSAL. */
  readSkill(skill: Skill, maxBytes: number): Buffer;
  /**
   * The other files of a skill, by path, at most 512.
   *
   * @param present - What the guard has just listed in its folder, so that it is listed once. Default: it is listed.
   */
  listing(skill: Skill, present?: SkillListing): SkillListing;
  /** @throws as `readContained`. */
  readResource(skill: Skill, path: string, maxBytes: number): Buffer;
  /**
   * For files that lie on another machine: fetches one. `readSkill` and `readResource` then throw RESOURCE_NOT_FOUND, and the skills
   * have `remote`.
   *
   * @param path - Undefined: SKILL.md.
   * @throws as `readResource`, MCP_SERVER_FAILED, MCP_FILE_REFUSED.
   */
  fetch?(skill: Skill, path: string | undefined, maxBytes: number): Promise<Buffer>;
  /** With `fetch`: all files of a skill. */
  readonly remote?: RemoteFiles;
  /** The digest of a file that is known without reading it. Absent: none is. */
  fileDigest?(skill: Skill, path: string): string | undefined;
  /** The folders to watch for changes; they need not exist. */
  watchFolders(): readonly string[];
  /** Registers a function to call when the skills have changed. Absent: the source does not report changes. @returns unsubscribes. */
  subscribe?(changed: () => void): () => void;
  scopes?(): PackScopes | undefined;
  /** Whether a real path is inside the source. */
  contains(path: string): boolean;
  /** The id of the skill that a `.md` file at a real path would be by itself, without a folder. Absent: none would be. */
  bareSkillId?(path: string): string | undefined;
  /** Whether a real path is in a folder from which Node loads code. Absent: no path is. */
  isCode?(path: string): boolean;
  /** The folder in which skills may be created and changed, and the profile they must pass. Absent: the source is read-only. */
  readonly writing?: { readonly folder: string; readonly validation: ValidationProfile } | undefined;
  close?(): Promise<void>;
}

export interface SourceScan {
  readonly skills: readonly Skill[];
  /** Skills whose id another skill of the same source has; readable by qualified id. */
  readonly losers?: readonly Skill[];
  readonly problems: readonly Problem[];
}

/**
 * The skills of the last scan of a source, by qualified id. The skill in a call is looked up here, and its paths are never used: a
 * caller could otherwise read any file with a skill object of its own.
 */
export class ScannedSkills<T> {
  #all: ReadonlyMap<string, T> | undefined = new Map();
  #make = (): ReadonlyMap<string, T> => new Map();

  /** @param make - Called when a skill is first looked up, which most processes never do. */
  replace(make: () => ReadonlyMap<string, T>): void {
    this.#all = undefined;
    this.#make = make;
  }

  find({ qualifiedId }: Skill): T | undefined {
    this.#all ??= this.#make();
    return this.#all.get(qualifiedId);
  }

  get(skill: Skill): T {
    const own = this.find(skill);
    if (own === undefined) throw resourceNotFound(skill.qualifiedId, 'its source has no such skill');
    return own;
  }
}

export const NO_FILES: SkillListing = { files: [], leftOut: 0 };

export interface SourceReader {
  readonly readSkill: (skill: Skill) => Buffer;
  readonly readFile: (skill: Skill, path: string, maxBytes: number) => Buffer;
  readonly listed: (skill: Skill) => readonly ResourceInfo[];
}

export function createSourceReader(sources: () => readonly SkillSource[], config: SkillRegistryConfig): SourceReader {
  const sourceOf = (skill: Skill): SkillSource => {
    const source = sources().find(({ id }) => id === skill.source);
    if (source) return source;
    throw skillNotFound(skill.id, []);
  };
  return {
    readSkill: (skill) => sourceOf(skill).readSkill(skill, config.limits.file_bytes),
    readFile: (skill, path, maxBytes) => sourceOf(skill).readResource(skill, path, maxBytes),
    listed: (skill) => sourceOf(skill).listing(skill).files,
  };
}

/** The problem of a source in a folder that only the registry itself may use; else undefined. @param real - Real path of the source. */
export function reservedSource(location: string, real: string): Problem | undefined {
  if (!isReserved(real)) return undefined;
  const message =
    'This source is inside data/ of the root, or inside the target of a link in it. That folder is only for the registry, so the source was not read. Move the skills to another folder.';
  return { code: 'SOURCE_RESERVED', severity: 'error', file: location, message };
}

/** For a root that nobody has approved: only files inside `folder` are read, which is the root, or a parent folder that a preset searches. */
export interface OnlyWithin {
  readonly folder: string;
  readonly root: string;
}

/** ROOT_NOT_APPROVED for a source whose real path is outside `only.folder`; else undefined. */
export function linkedOut(location: string, real: string, only: OnlyWithin | undefined): Problem | undefined {
  if (!only || isInside(real, futureRealPath(only.folder))) return undefined;
  return unapprovedRootProblem(only.root, [`${relative(only.root, location)} (a link that leads out of it)`]);
}
