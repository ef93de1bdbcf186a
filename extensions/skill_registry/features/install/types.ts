/** Public types of origins: where skills come from, how they are installed and updated. */

import type { Problem } from 'skill-registry/kernel';
import type { Decision } from '../../../../lib/trust/index.ts';
import type { Finding } from '../../core/skill/guard.ts';
import type { SkillTrust } from '../guard/types.ts';
import type { Actor } from '../history/types.ts';

/** Installs skills and updates `skills-lock.json` of the root. Never runs a file of an origin. */
export interface Origins {
  /**
   * Plans an installation. Writes nothing.
   * @param what - `owner/repo[/path][@ref]`, a git address with optional `#ref`, `npm:name[@range]`, a page with
   *   `/.well-known/agent-skills/index.json`, an archive (`.tar.gz`, `.tgz`, `.zip`; path or address), or a folder
   *   (`./x`).
   * @throws ORIGIN_INVALID, SOURCE_REVOKED, ORIGIN_UNAVAILABLE, ORIGIN_REFUSED, LOCK_INVALID, SKILL_EXISTS,
   *   SOURCE_NOT_WRITABLE.
   */
  add(what: string, options?: AddOptions): Promise<AddPlan>;
  /**
   * Plans skills from prompts of other systems. Writes nothing.
   * @param path - A folder of roles (`<role>/system_prompt.md`), the folder of one role, or a prompt file. A prompt
   *   file is split by its headings into a prompt and a skill.
   * @throws ORIGIN_UNAVAILABLE, ORIGIN_INVALID, NOT_TEXT, RESOURCE_TOO_LARGE, INVALID_ARGUMENT. For a single skill also
   *   SKILL_EXISTS, SKILL_INVALID, SOURCE_NOT_WRITABLE; for several skills these are in `refused`.
   */
  import(path: string, options?: ImportOptions): Promise<ImportPlan>;
  /**
   * Plans to install the skills of the lock that are missing here, at the commit, version or digest in the lock.
   * @throws ROOT_NOT_APPROVED, SOURCE_REVOKED, LOCK_INVALID, ORIGIN_UNAVAILABLE; ORIGIN_REFUSED for a skill that was
   *   changed here, or when the origin's files differ from the lock.
   */
  restore(options?: Pick<AddOptions, 'to'>): Promise<AddPlan>;
  /**
   * Compares the installed skills with their origins, and plans to merge both sides' changes. Writes nothing.
   * @param ids - Ids, or names in the lock. Default: everything in the lock.
   * @throws ROOT_NOT_APPROVED, LOCK_INVALID; ORIGIN_REFUSED for an id that is not in the lock.
   */
  update(ids?: readonly string[]): Promise<UpdatePlan>;
  /** Where a skill goes when nobody says it. */
  place(): Promise<InstallPlace>;
  /** The sources that the lock and the config use, with the decision about each. @throws LOCK_INVALID. */
  sources(): Promise<readonly UsedSource[]>;
  /** Compares the skills on disk with the lock. @throws LOCK_INVALID. */
  verify(): Promise<readonly LockedSkill[]>;
  /**
   * Moves a skill to the archive and removes its lock entry. `history.restore` brings it back.
   * @param options.asInstalled - Only if nobody has changed it since it was installed. Default: false.
   * @throws SKILL_NOT_FOUND when it is neither here nor in the lock; SHOWN_CHANGED for `asInstalled`;
   *   SOURCE_NOT_WRITABLE, LOCK_INVALID, WRITE_FAILED.
   */
  remove(id: string, actor: Actor, options?: { readonly asInstalled?: boolean | undefined }): Promise<RemovedSkill>;
}

export interface InstallPlace {
  /** For `AddOptions.to`. */
  readonly to: string | undefined;
  /** What a person is asked to choose from; empty where a folder for skills is there. */
  readonly choices: readonly string[];
}

export interface AddOptions {
  /** Names, ids or folders of skills. Default: the only skill of the origin. */
  readonly skills?: readonly string[] | undefined;
  readonly all?: boolean | undefined;
  /** Of a page: each with `${NAME}` of a secret. They are sent to its origin alone; the lock keeps `${NAME}`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Base of relative paths. Default: the root. */
  readonly cwd?: string | undefined;
  /**
   * An absolute folder of a writable source, or a folder of an agent: `claude` in the project, `claude-home` in the
   * home directory, where that is a source. Default: the first writable source.
   */
  readonly to?: string | undefined;
  /** Agents to link it for, if they do not look there. Default: those found here for `.agents/skills`, else none. */
  readonly agents?: readonly string[] | undefined;
  /** Link to the skills of a folder instead of copying them; links get no lock entry. Default: false. */
  readonly link?: boolean | undefined;
}

export interface ImportOptions {
  /** Id of a prompt's skill. Default: the file name; for a file named `prompt`, its folder's name. */
  readonly name?: string | undefined;
  /** Base of a relative path. Default: the root. */
  readonly cwd?: string | undefined;
}

export interface NotImported {
  readonly path: string;
  readonly reason: string;
}

/** Imported skills get no lock entry. */
export interface ImportPlan extends AddPlan {
  /** Ids of skills that exist with exactly these files. They stay as they are. */
  readonly installed: readonly string[];
  readonly refused: readonly NotImported[];
  /** Files of roles that are not imported. */
  readonly leftOut: readonly NotImported[];
  /** Jinja in the skills, which the registry does not render. Lines start at 1; at most 1,000 per file. */
  readonly unrendered: readonly {
    readonly skillId: string;
    readonly path: string;
    readonly line: number;
    readonly text: string;
  }[];
  /** The part of a prompt that stays a prompt. */
  readonly prompt?: string;
}

/** The plan keeps the file contents, so `apply` writes exactly what was shown. */
export interface AddPlan {
  /** For display. */
  readonly origin: string;
  /** How decisions name the origin: an address, `npm:<name>` or a folder. Absent in a plan from the lock. */
  readonly source?: string | undefined;
  readonly skills: readonly SkillToAdd[];
  /** Lock names of skills that are already installed from this origin. They stay as they are. */
  readonly installed: readonly string[];
  /** Absolute paths of lost links to installed skills; `apply` makes them again. Only in a plan from the lock. */
  readonly links?: readonly string[];
  /** Paths of SKILL.md files that cannot be parsed. */
  readonly unreadable: readonly string[];
  /**
   * Installs all skills except those that are `blocked` and not in `allowBlock`.
   * @throws SKILL_BLOCKED when some were refused for a `block` finding; the others are written. `details.refused` has
   *   `skill_id`, `allow_block` and `findings` of each, `details.changed` the return value for the others.
   *   SHOWN_CHANGED when a lock entry has changed since the plan; nothing was written. SKILL_INVALID, SKILL_EXISTS,
   *   SOURCE_NOT_WRITABLE, INVALID_ARGUMENT, LOCK_INVALID, WRITE_FAILED, TRUST_UNUSABLE.
   */
  apply(actor: Actor, options?: ApplyOptions): Promise<readonly ChangedSkill[]>;
}

export interface ApplyOptions {
  /**
   * `<id>@<digest>` as in `blocked`. The actor must be a person. Exactly these files are allowed, and the decision is
   * recorded as by `admin.decideTrust`.
   */
  readonly allowBlock?: readonly string[] | undefined;
}

export interface SkillToAdd {
  readonly id: string;
  /** The frontmatter's name. */
  readonly name: string;
  readonly description: string;
  /** Of the body. */
  readonly tokens: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** Number of files not installed: names of secrets, and temporary files. */
  readonly leftOut: number;
  /** Paths of files that can be run. */
  readonly scripts: readonly string[];
  readonly allowedTools: readonly string[];
  readonly requires: readonly string[];
  /** Required ids that neither the origin nor this registry has. */
  readonly missing: readonly string[];
  /** Installed only because another skill requires it. */
  readonly alongWith: boolean;
  /** Absolute path of its new folder. */
  readonly folder: string;
  /** Absolute paths of links to it, for agents that do not look in its folder. */
  readonly links: readonly string[];
  /** Why other agents get none, as sentences. */
  readonly notLinked: readonly string[];
  /** The effect on an existing skill with this id, as a sentence; undefined when there is none. */
  readonly collides: string | undefined;
  /** Most important first. */
  readonly findings: readonly Finding[];
  readonly reach: SkillTrust['reach'];
  /** `<id>@<digest>` when a `block` finding is not yet allowed for exactly these files; else undefined. */
  readonly blocked: string | undefined;
  readonly problems: readonly Problem[];
}

export interface ChangedSkill {
  readonly id: string;
  /** Undefined for a link. */
  readonly revision: number | undefined;
  /** Ids of the proposals about conflicts. */
  readonly proposals: readonly string[];
}

export interface RemovedSkill {
  readonly id: string;
  /** The last revision; undefined when only a lock entry or a link was removed. */
  readonly revision: number | undefined;
  readonly wasLocked: boolean;
}

export interface UsedSource {
  /** An address, `npm:<name>`, a folder, or `mcp:` with a program and a digest of its arguments. */
  readonly source: string;
  /** Names in the lock; empty for a source of the config. */
  readonly skills: readonly string[];
  /** The last decision about it or about a folder above it (`path`). Undefined: the approval of the root applies. */
  readonly decision: Pick<Decision, 'action' | 'at' | 'by' | 'path' | 'reason'> | undefined;
  /** Ids of this source in the config. */
  readonly inConfig: readonly string[];
}

export interface LockedSkill {
  readonly id: string;
  /** In the lock. */
  readonly name: string;
  /** Absolute; absent where it is not. */
  readonly folder?: string | undefined;
  readonly source: string;
  /** As in `SkillUpdate`. */
  readonly ofPerson: boolean;
  /**
   * `drifted`: changed here since it was installed; `absent`: not below this root, and `reason` names a copy outside
   * it; `broken`: its lock entry is invalid, see `reason`; `unlinked`: `reason` names links that do not lead to it.
   */
  readonly state: 'same' | 'drifted' | 'absent' | 'broken' | 'unlinked';
  /** Another tool wrote the entry, and its hash can be equal for two different folders. */
  readonly weak: boolean;
  /** Paths that differ, if the lock lists files. */
  readonly changed: readonly string[];
  readonly reason?: string | undefined;
}

export interface UpdatePlan {
  readonly skills: readonly SkillUpdate[];
  /**
   * Writes the `outdated` skills, except those that are `blocked` and not in `allowBlock`.
   * @throws as `AddPlan.apply`; SHOWN_CHANGED also when a file of one of them has changed since the plan.
   */
  apply(actor: Actor, options?: ApplyOptions): Promise<readonly ChangedSkill[]>;
}

export interface SkillUpdate {
  readonly id: string;
  /** In the lock. */
  readonly name: string;
  readonly source: string;
  /** Installed for all projects of the person, and listed in the lock of the state directory. */
  readonly ofPerson: boolean;
  /**
   * `current`: nothing newer; `outdated`: `files` would change; `waiting`: proposals of its last update are undecided;
   * `moved`: the tag now names another commit and is not followed; `absent`: not on disk; `failed`: see `reason`.
   */
  readonly state: 'current' | 'outdated' | 'waiting' | 'moved' | 'absent' | 'failed';
  /** Changed here since it was installed. */
  readonly drifted: boolean;
  readonly files: readonly FileUpdate[];
  /** New findings, and every `block` finding when it is `blocked`; most important first. */
  readonly findings: readonly Finding[];
  /** As in `SkillToAdd`, for the files after the update. */
  readonly blocked?: string | undefined;
  /** What it would reach beyond now, in one line. */
  readonly reaches: string;
  /** Unified diff of the text files here; empty when nothing would change. */
  readonly diff: string;
  readonly reason?: string | undefined;
}

export interface FileUpdate {
  readonly path: string;
  /**
   * `added`, `changed`, `removed`: follows the origin; `kept`: changed only here, so it stays; `merged`: changes of
   * both sides; `conflict`: both sides changed the same lines, or the installed text is unknown. A file in conflict
   * stays as it is, and a proposal asks for a decision.
   */
  readonly change: 'added' | 'changed' | 'removed' | 'kept' | 'merged' | 'conflict';
}

export interface LockedFiles {
  /** `sha256:<64 hex>` over the sorted `files`, each with a line feed. */
  readonly digest: string;
  /** `sha256:<64 hex> <bytes> <644 or 755> <path>`, sorted by path. */
  readonly files: readonly string[];
}

/** One skill in the lock, in the format of other tools. Unknown fields are kept. */
export interface LockEntry {
  /** `owner/repo`, an address, a folder relative to the root, `npm:name@range`, `wellknown/<host>`. */
  readonly source: string;
  /** `github`, `gitlab`, `git`, `local`, `npm`, `download`, `well-known`, or another tool's. */
  readonly sourceType: string;
  readonly sourceUrl?: string | undefined;
  readonly ref?: string | undefined;
  /** Path of SKILL.md in the source. */
  readonly skillPath?: string | undefined;
  readonly version?: string | undefined;
  /** 64 hex digits, computed as other tools do. */
  readonly computedHash: string;
  readonly wellKnownDigest?: string | undefined;
  /** Absent when another tool wrote the entry. */
  readonly registry?:
    | (LockedFiles & {
        readonly commit?: string | undefined;
        /** Agents in whose folders a link to the skill lies. */
        readonly links?: readonly string[] | undefined;
        /** Of requests to the page, with `${NAME}` of secrets. */
        readonly headers?: Readonly<Record<string, string>> | undefined;
      })
    | undefined;
  readonly [unknown: string]: unknown;
}
