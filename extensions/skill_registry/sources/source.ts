import type { Problem } from 'skill-registry/kernel';
import type { PackScopes, ResourceInfo, Skill } from '../api.ts';
import type { SkillRegistryConfig, ValidationProfile } from '../config.ts';

/** One ordered place skills come from. Implementations never throw from `scan`: what is wrong is a problem. */
export interface SkillSource {
  /** Unique among the sources; the first half of a qualified id. */
  readonly id: string;
  readonly kind: string;
  /** For people: the folder, absolute. */
  readonly location: string;
  /**
   * Finds every skill. What has not changed since the last scan is taken over, not read again.
   *
   * @throws only when the source as a whole cannot be looked at; the catalog then keeps what it had.
   */
  scan(limits: SkillRegistryConfig['limits'], pace: () => Promise<void>): Promise<SourceScan>;
  /** The bytes of SKILL.md. @throws RESOURCE_NOT_FOUND, RESOURCE_TOO_LARGE, PATH_TRAVERSAL. */
  readSkill(skill: Skill, maxBytes: number): Buffer;
  /** Files beside SKILL.md by path, at most 512. */
  resources(skill: Skill): readonly ResourceInfo[];
  /** `resources`, and how many others are never handed out (`SkillRegistry.leftOut`). Absent: none are left out. */
  listing?(skill: Skill): SkillListing;
  /** @throws as `readContained` of the kernel. */
  readResource(skill: Skill, path: string, maxBytes: number): Buffer;
  /** Folders in which a change may concern this source; they need not exist. */
  watchFolders(): readonly string[];
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
