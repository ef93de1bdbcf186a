import { relative } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { unapprovedRootProblem } from '../../../../kernel/host.ts';
import { futureRealPath, isInside, isReserved, resourceNotFound } from '../../../../lib/files/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import { skillNotFound } from '../skill/errors.ts';
import type { Finding, RemoteFiles } from '../skill/guard.ts';
import type { Profile } from '../skill/profile.ts';
import type { Skill, SkillListing } from '../skill/skill.ts';
import type { PackScopes } from './types.ts';

/** A source of skills, of any kind. Programs implement `CustomSource` instead. */
export interface SkillSource {
  /** Unique; the first part of qualified ids. */
  readonly id: string;
  readonly kind: string;
  /** For display; of a folder its absolute path. */
  readonly location: string;
  /** How decisions name the source. Default: `location`. */
  readonly key?: string;
  /** The skills come from somebody else, and are inspected before agents see them. Default: false. */
  readonly broughtIn?: boolean;
  /** Ignored when an earlier source has any skill, loadable or not. Default: false. */
  readonly ifNone?: boolean;
  /**
   * @param sources - All sources of the registry, for links between them. Default: none.
   * @throws only when the whole source cannot be scanned; the catalog then keeps the last result.
   */
  scan(limits: SkillRegistryConfig['limits'], sources?: readonly SkillSource[]): Promise<SourceScan>;
  /** Reads one skill again: the same objects when SKILL.md is unchanged. Undefined: a full scan is needed. */
  rescan?(
    skill: Skill,
    limits: SkillRegistryConfig['limits'],
  ): { readonly skill: Skill; readonly scan: SourceScan } | undefined;
  /** @throws RESOURCE_NOT_FOUND, RESOURCE_TOO_LARGE, PATH_TRAVERSAL. */
  readSkill(skill: Skill, maxBytes: number): Buffer;
  /** Without SKILL.md, sorted by path, at most 512. @param present - A listing just made, to avoid a second one. */
  listing(skill: Skill, present?: SkillListing): SkillListing;
  /** @throws as `readContained`. */
  readResource(skill: Skill, path: string, maxBytes: number): Buffer;
  /**
   * For files on another machine: then `readSkill` and `readResource` throw RESOURCE_NOT_FOUND. Default path: SKILL.md.
   * @throws as `readResource`, MCP_SERVER_FAILED, MCP_FILE_REFUSED.
   */
  fetch?(skill: Skill, path: string | undefined, maxBytes: number): Promise<Buffer>;
  /** Present with `fetch`: reads all files of a skill. */
  readonly remote?: RemoteFiles;
  /**
   * For a skill that is remote `until-read`: has its files fetched, once for all who ask. The next scan has it without
   * `remote`. @throws ORIGIN_UNAVAILABLE, ORIGIN_REFUSED, SECRET_NOT_APPROVED, SECRET_MISSING.
   */
  bring?(skill: Skill): Promise<void>;
  /** Of a source that searches itself: scores by qualified id, above 0. Its bodies may not be here. */
  search?(query: string, signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
  /**
   * Of a source that may have a policy about its skills: the text of it. Undefined: it is as `etag` says.
   * @throws ORIGIN_UNAVAILABLE (`status` 404: there is none), ORIGIN_REFUSED.
   */
  policy?(etag: string | undefined, signal: AbortSignal): Promise<ReceivedText | undefined>;
  /** Whether people at the source have allowed all these findings in the skill as it is, and the config takes that. */
  allows?(skill: Skill, findings: readonly Finding[]): boolean;
  /** Called when an agent was given a SKILL.md, or refused it. Must not wait. */
  used?(skill: Skill, agent: string | undefined, what: 'loads' | 'refused'): void;
  /** Looks for changes as long as the registry watches. Must not reject. */
  follow?(signal: AbortSignal): Promise<void>;
  /** The digest of a file, if known without reading it. */
  fileDigest?(skill: Skill, path: string): string | undefined;
  /** Folders to watch for changes, existing or not. */
  watchFolders(): readonly string[];
  /**
   * Calls `changed` when the skills have changed. Absent: the source reports no changes. @returns unsubscribes.
   * `ids`: qualified ids of the only ones that have, all of which were and are there. Default: unknown.
   */
  subscribe?(changed: (ids?: readonly string[]) => void): () => void;
  scopes?(): PackScopes | undefined;
  /** Whether a real path is inside the source. */
  contains(path: string): boolean;
  /** The id of the `.md` file at a real path, if that file alone is a skill. */
  bareSkillId?(path: string): string | undefined;
  /** Whether Node loads code from the folder of a real path. */
  isCode?(path: string): boolean;
  /** The folder to write skills to, and the rules that they must keep there. Absent: read-only. */
  readonly writing?: { readonly folder: string; readonly profile?: Profile | undefined } | undefined;
  close?(): Promise<void>;
}

export interface SourceScan {
  readonly skills: readonly Skill[];
  /** Skills whose id another skill of this source has; readable by qualified id. */
  readonly losers?: readonly Skill[];
  readonly problems: readonly Problem[];
}

export interface ReceivedText {
  readonly bytes: Uint8Array;
  readonly etag: string | undefined;
}

/** Each scan is changed. Reading one skill again is a full scan then. */
export function changeScans(source: SkillSource, change: (scan: SourceScan) => SourceScan): SkillSource {
  const { scan } = source;
  return Object.assign(source, {
    rescan: undefined,
    scan: async (...given: Parameters<SkillSource['scan']>) => change(await scan(...given)),
  });
}

/** Never uses the paths of a caller's skill object, which could name any file. @param own - By qualified id. */
export function ownSkill<T>(own: ReadonlyMap<string, T>, { qualifiedId }: Skill): T {
  const found = own.get(qualifiedId);
  if (found !== undefined) return found;
  throw resourceNotFound(qualifiedId, 'its source has no such skill');
}

/** `base`, or if that is taken, with a number: `base~2`. */
export function freeId(base: string, taken: Pick<ReadonlySet<string>, 'has'>, sign = '~'): string {
  let id = base;
  for (let number = 2; taken.has(id); number++) id = `${base}${sign}${number}`;
  return id;
}

export function isSameList(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.length === after.length && before.every((one, at) => one === after[at]);
}

export const NO_FILES: SkillListing = { files: [], leftOut: 0 };

/** @throws SKILL_NOT_FOUND when its source was removed. */
export function presentSource(skill: Skill, sources: readonly SkillSource[]): SkillSource {
  const source = sources.find(({ id }) => id === skill.source);
  if (source) return source;
  throw skillNotFound(skill.id);
}

export function reservedSource(location: string, real: string): Problem | undefined {
  if (!isReserved(real)) return undefined;
  const message =
    'This source is inside data/ of the root, or inside the target of a link in it. That folder is only for the registry, so the source was not read. Move the skills to another folder.';
  return { code: 'SOURCE_RESERVED', severity: 'error', file: location, message };
}

/** For an unapproved root, only files in `folder` are read: the root, or a parent folder that a preset searches. */
export interface OnlyWithin {
  readonly folder: string;
  readonly root: string;
}

export function linkedOut(location: string, real: string, only: OnlyWithin | undefined): Problem | undefined {
  if (!only || isInside(real, futureRealPath(only.folder))) return undefined;
  return unapprovedRootProblem(only.root, [`${relative(only.root, location)} (a link that leads out of it)`]);
}
