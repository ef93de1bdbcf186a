/** What callers see of origins: where skills come from, how they are installed and updated. No code. */
import type { Problem } from 'skill-registry/kernel';
import type { Decision } from '../../../lib/trust/index.ts';
import type { Actor } from '../history/types.ts';
import type { Finding } from '../inspect/types.ts';

/** Installs skills, and keeps `skills-lock.json` of the root. It never runs a file of an origin. */
export interface Origins {
  /**
   * Looks at an origin and says what would be installed. Writes nothing.
   *
   * @param what - `owner/repo[/path][@ref]`, a git address (`[#ref]` after it), `npm:name[@range]`, a page with
   *   `/.well-known/agent-skills/index.json`, an archive (`.tar.gz`, `.tgz`, `.zip`; a path or an address), or a folder
   *   (`./x`).
   * @throws ORIGIN_INVALID, SOURCE_REVOKED, ORIGIN_UNAVAILABLE, ORIGIN_REFUSED, LOCK_INVALID, SKILL_EXISTS,
   *   SOURCE_NOT_WRITABLE.
   */
  add(what: string, options?: AddOptions): Promise<AddPlan>;
  /**
   * Plans skills from the prompts of other systems. Writes nothing, and never changes what it reads.
   *
   * @param path - A folder of role templates (`<role>/system_prompt.md`), the folder of one role, or a prompt, which is
   *   split by its headings into a part that stays and a skill.
   * @throws ORIGIN_UNAVAILABLE, ORIGIN_INVALID, NOT_TEXT, RESOURCE_TOO_LARGE, INVALID_ARGUMENT. For a single skill also
   *   SKILL_EXISTS, SKILL_INVALID, SOURCE_NOT_WRITABLE; for several skills these are in `refused`.
   */
  import(path: string, options?: ImportOptions): Promise<ImportPlan>;
  /**
   * Plans to install the skills of the lock that are missing here. Fetches each at the commit, version or digest of its
   * entry, and compares it with the entry.
   *
   * @throws ROOT_NOT_APPROVED, SOURCE_REVOKED, LOCK_INVALID, ORIGIN_UNAVAILABLE; ORIGIN_REFUSED for a skill that was
   *   changed here, and for an origin whose bytes are no longer those of the lock.
   */
  restore(options?: Pick<AddOptions, 'to'>): Promise<AddPlan>;
  /**
   * Compares the installed skills with their origins, and plans to merge the changes of both. Writes nothing.
   *
   * @param ids - Ids, or names in the lock. Default: everything in the lock.
   * @throws ROOT_NOT_APPROVED, LOCK_INVALID; ORIGIN_REFUSED for an id that the lock does not have.
   */
  update(ids?: readonly string[]): Promise<UpdatePlan>;
  /** The sources of the skills here, and what a person decided about each source. @throws LOCK_INVALID. */
  sources(): Promise<readonly UsedSource[]>;
  /** Compares the skills on disk with the lock. @throws LOCK_INVALID. */
  verify(): Promise<readonly LockedSkill[]>;
  /**
   * Moves a skill to the archive, from which `history.restore` brings it back, and takes its entry out of the lock.
   *
   * @throws SKILL_NOT_FOUND when it is neither here nor in the lock; SOURCE_NOT_WRITABLE, LOCK_INVALID, WRITE_FAILED.
   */
  remove(id: string, actor: Actor): Promise<RemovedSkill>;
}

export interface AddOptions {
  /** Names, ids or folders of the skills to add. Default: the only skill of the origin. */
  readonly skills?: readonly string[] | undefined;
  readonly all?: boolean | undefined;
  /** The folder that relative paths start from. Default: the root. */
  readonly cwd?: string | undefined;
  /** Absolute folder of the source that gets the skills. Default: the first source that may be written. */
  readonly to?: string | undefined;
  /** Of a folder: link to its skills instead of copying them; these have no entry in the lock. Default: false. */
  readonly link?: boolean | undefined;
}

export interface ImportOptions {
  /** For a prompt: the id of its skill. Default: the name of the file; of a file `prompt` that of its folder. */
  readonly name?: string | undefined;
  /** The folder that a relative path starts from. Default: the root. */
  readonly cwd?: string | undefined;
}

/** Something that does not become a part of a skill. */
export interface NotImported {
  readonly path: string;
  readonly reason: string;
}

/** What an import would make. These skills get no entry in the lock. */
export interface ImportPlan extends AddPlan {
  /** Ids of the skills that are there with exactly the files that would be written. They stay as they are. */
  readonly installed: readonly string[];
  /** Parts that become no skill. */
  readonly refused: readonly NotImported[];
  /** Files of roles that are not imported. */
  readonly leftOut: readonly NotImported[];
  /** Jinja in the skills, which the registry does not render. Lines are 1-based; at most 1,000 of a file. */
  readonly unrendered: readonly {
    readonly skillId: string;
    readonly path: string;
    readonly line: number;
    readonly text: string;
  }[];
  /** The part of a prompt that does not become a skill. */
  readonly prompt?: string;
}

/** What would be installed. The plan keeps the contents, so that `apply` writes exactly what was shown. */
export interface AddPlan {
  /** For people. */
  readonly origin: string;
  /** The name of the origin in decisions: an address, `npm:<name>` or a folder. Absent in a plan from the lock. */
  readonly source?: string | undefined;
  readonly skills: readonly SkillToAdd[];
  /** Lock names of the skills that are already installed from this origin. They stay as they are. */
  readonly installed: readonly string[];
  /** Paths of files that look like a skill, but cannot be read as one. */
  readonly unreadable: readonly string[];
  /**
   * Installs them, but for those that are `blocked` and not in `allowBlock`.
   *
   * @throws SKILL_BLOCKED when some were refused because of a `block` finding and the others are written:
   *   `details.refused` has `skill_id`, `allow_block` and `findings` of each, `details.changed` what this would have
   *   returned. SKILL_INVALID, SKILL_EXISTS, SOURCE_NOT_WRITABLE, INVALID_ARGUMENT, LOCK_INVALID, WRITE_FAILED,
   *   TRUST_UNUSABLE; SHOWN_CHANGED when the lock says something else of one of them than when this was planned, and
   *   nothing was written.
   */
  apply(actor: Actor, options?: ApplyOptions): Promise<readonly ChangedSkill[]>;
}

export interface ApplyOptions {
  /**
   * `<id>@<digest>` of skills with a `block` finding, each as `blocked` says it. The actor, who must be a person, lets
   * in exactly these files, and that is recorded as `admin.decideTrust` does it.
   */
  readonly allowBlock?: readonly string[] | undefined;
}

/** One skill that would be installed, for a person to look at. */
export interface SkillToAdd {
  readonly id: string;
  /** The name in its frontmatter, which is also its name in the lock. */
  readonly name: string;
  readonly description: string;
  /** Of its body. */
  readonly tokens: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** How many files are not installed: files with names of secrets, and temporary files. */
  readonly leftOut: number;
  /** Files that may be run. */
  readonly scripts: readonly string[];
  readonly allowedTools: readonly string[];
  /** Ids. */
  readonly requires: readonly string[];
  /** Required ids that neither the origin nor this registry has. */
  readonly missing: readonly string[];
  /** Whether it is only installed because another skill requires it. */
  readonly alongWith: boolean;
  /** Absolute path of the folder it gets. */
  readonly folder: string;
  /** What happens when an existing skill has this id, as a sentence; undefined when none has. */
  readonly collides: string | undefined;
  /** Findings in its files, most important first. */
  readonly findings: readonly Finding[];
  /** `<id>@<digest>`, when it has a `block` finding that nobody has allowed for exactly these files; else undefined. */
  readonly blocked: string | undefined;
  /** What is wrong with its SKILL.md. */
  readonly problems: readonly Problem[];
}

/** A skill that was written. */
export interface ChangedSkill {
  readonly id: string;
  /** Of its history; undefined for a link. */
  readonly revision: number | undefined;
  /** Ids of proposals that ask about conflicts. */
  readonly proposals: readonly string[];
}

export interface RemovedSkill {
  readonly id: string;
  /** Its last revision; undefined when only its entry in the lock, or a link, was there. */
  readonly revision: number | undefined;
  /** Whether the lock had it. */
  readonly wasLocked: boolean;
}

/** A source that the lock or the config of a root names. */
export interface UsedSource {
  /** An address, `npm:<name>`, a folder, or `mcp:` with a program and a digest of its arguments. */
  readonly source: string;
  /** Names in the lock; none for a source of the config. */
  readonly skills: readonly string[];
  /** The last decision about it or a folder above it (`path`). Undefined: the approval of the root counts. */
  readonly decision: Pick<Decision, 'action' | 'at' | 'by' | 'path' | 'reason'> | undefined;
  /** Ids of the sources in the config that are this source. */
  readonly inConfig: readonly string[];
}

/** How the files on disk compare with the lock. */
export interface LockedSkill {
  readonly id: string;
  /** In the lock. */
  readonly name: string;
  readonly source: string;
  /**
   * `same`; `drifted`: somebody has changed it here since; `absent`: it is not below this root, and `reason` names one
   * outside it; `broken`: its entry breaks the format, and `reason` says how.
   */
  readonly state: 'same' | 'drifted' | 'absent' | 'broken';
  /** Another tool wrote the entry, and its hash can be the same for two different folders. */
  readonly weak: boolean;
  /** Paths that differ, as far as the lock names them. */
  readonly changed: readonly string[];
  readonly reason?: string | undefined;
}

export interface UpdatePlan {
  readonly skills: readonly SkillUpdate[];
  /**
   * Writes the `outdated` skills; one that is `blocked` and not in `allowBlock` stays as it is.
   *
   * @throws as `AddPlan.apply`; SHOWN_CHANGED also when somebody has changed a file of one of them since.
   */
  apply(actor: Actor, options?: ApplyOptions): Promise<readonly ChangedSkill[]>;
}

/** What an update would do to one installed skill. */
export interface SkillUpdate {
  readonly id: string;
  /** In the lock. */
  readonly name: string;
  readonly source: string;
  /**
   * `current`: there is nothing newer; `outdated`: `files` would change; `waiting`: proposals of its last update are
   * not decided; `moved`: the tag names another commit than when it was installed, and is not followed; `absent`: it is
   * not on disk; `failed`: `reason` says why this is not known.
   */
  readonly state: 'current' | 'outdated' | 'waiting' | 'moved' | 'absent' | 'failed';
  /** Somebody has changed it here since it was installed. */
  readonly drifted: boolean;
  readonly files: readonly FileUpdate[];
  /** New findings, and all of the level `block` when it is `blocked`; most important first. */
  readonly findings: readonly Finding[];
  /** As of `SkillToAdd`, about the files after the update. */
  readonly blocked?: string | undefined;
  /** What would change here, as a unified diff of the text files; empty when nothing would. */
  readonly diff: string;
  readonly reason?: string | undefined;
}

/** What an update does to one file. */
export interface FileUpdate {
  readonly path: string;
  /**
   * `added`, `changed`, `removed`: it gets the state of the origin; `kept`: changed only here, so it stays; `merged`:
   * changed here and at the origin; `conflict`: changed on both sides in the same lines, or the installed text is not
   * known any more. Then the file stays as it is, and a proposal asks for a decision.
   */
  readonly change: 'added' | 'changed' | 'removed' | 'kept' | 'merged' | 'conflict';
}

/** What `skills-lock.json` says of the files of one skill. */
export interface LockedFiles {
  /** `sha256:<64 hex>` over the sorted `files`, each with a line feed. */
  readonly digest: string;
  /** `sha256:<64 hex> <bytes> <644 or 755> <path>`, in the order of the paths. */
  readonly files: readonly string[];
}

/** One skill in the lock. Other tools read and write the same fields. Unknown fields are kept as they are. */
export interface LockEntry {
  /** `owner/repo`, an address, a folder relative to the root, `npm:name@range`, `wellknown/<host>`. */
  readonly source: string;
  /** `github`, `gitlab`, `git`, `local`, `npm`, `download`, `well-known`, or another tool's. */
  readonly sourceType: string;
  readonly sourceUrl?: string | undefined;
  readonly ref?: string | undefined;
  /** Of SKILL.md in the source. */
  readonly skillPath?: string | undefined;
  readonly version?: string | undefined;
  /** 64 hex digits, as other tools compute it. */
  readonly computedHash: string;
  readonly wellKnownDigest?: string | undefined;
  /** Written only by this registry; absent when another tool wrote the entry. */
  readonly registry?: (LockedFiles & { readonly commit?: string | undefined }) | undefined;
  readonly [unknown: string]: unknown;
}
