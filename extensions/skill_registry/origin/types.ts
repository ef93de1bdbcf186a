/** What callers see of origins: where skills come from, how they are brought in and kept the same. No code. */
import type { Problem } from 'skill-registry/kernel';
import type { Decision } from '../../../lib/trust/index.ts';
import type { Actor } from '../history/types.ts';
import type { Finding } from '../inspect/types.ts';

/** Installs skills, and keeps `skills-lock.json` of the root. Nothing that an origin has is ever run. */
export interface Origins {
  /**
   * Looks at an origin and says what would be installed. Writes nothing.
   *
   * @param what - `owner/repo[/path][@ref]`, a git address (`[#ref]` after it), `npm:name[@range]`, a page with
   *   `/.well-known/agent-skills/index.json`, an archive (`.tar.gz`, `.tgz`, `.zip`; a path or an address), or a folder (`./x`).
   * @throws ORIGIN_INVALID, SOURCE_REVOKED, ORIGIN_UNAVAILABLE, ORIGIN_REFUSED, LOCK_INVALID, SKILL_EXISTS, SOURCE_NOT_WRITABLE.
   */
  add(what: string, options?: AddOptions): Promise<AddPlan>;
  /**
   * Makes skills of what other systems keep in prompts. Writes nothing, and never changes what it reads.
   *
   * @param path - A folder of role templates (`<role>/system_prompt.md`), the folder of one role, or a prompt, which is split by its
   *   headings into what stays and a skill.
   * @throws ORIGIN_UNAVAILABLE, ORIGIN_INVALID, NOT_TEXT, RESOURCE_TOO_LARGE, INVALID_ARGUMENT. Of a single skill also SKILL_EXISTS,
   *   SKILL_INVALID, SOURCE_NOT_WRITABLE; of several this is in `refused`.
   */
  import(path: string, options?: ImportOptions): Promise<ImportPlan>;
  /**
   * Says what is missing here of what the lock names, fetched at the commit, version or digest that it names, and compared with it.
   *
   * @throws ROOT_NOT_APPROVED, SOURCE_REVOKED, LOCK_INVALID, ORIGIN_UNAVAILABLE; ORIGIN_REFUSED for what has changed here, and for an origin that has
   *   other bytes now.
   */
  restore(options?: Pick<AddOptions, 'to'>): Promise<AddPlan>;
  /**
   * Compares what is installed with what its origins have now, and brings both together. Writes nothing.
   *
   * @param ids - Ids, or names in the lock. Default: everything in the lock.
   * @throws ROOT_NOT_APPROVED, LOCK_INVALID; ORIGIN_REFUSED for an id that the lock does not have.
   */
  update(ids?: readonly string[]): Promise<UpdatePlan>;
  /** Where the skills here come from, and what a person decided about it. @throws LOCK_INVALID. */
  sources(): Promise<readonly UsedSource[]>;
  /** Compares what lies here with the lock. @throws LOCK_INVALID. */
  verify(): Promise<readonly LockedSkill[]>;
  /**
   * Moves a skill to the archive, from which `history.restore` brings it back, and takes its entry out of the lock.
   *
   * @throws SKILL_NOT_FOUND when it is neither here nor in the lock; SOURCE_NOT_WRITABLE, LOCK_INVALID, WRITE_FAILED.
   */
  remove(id: string, actor: Actor): Promise<RemovedSkill>;
}

export interface AddOptions {
  /** Names, ids or folders of the skills that are meant. Default: the only one. */
  readonly skills?: readonly string[] | undefined;
  readonly all?: boolean | undefined;
  /** What relative paths are relative to. Default: the root. */
  readonly cwd?: string | undefined;
  /** Folder of the source that is to have them; absolute. Default: the first source that may be written. */
  readonly to?: string | undefined;
  /** Of a folder: link to its skills instead of copying them. A linked skill has no entry in the lock. Default: false. */
  readonly link?: boolean | undefined;
}

export interface ImportOptions {
  /** Of a prompt: id of its skill. Default: by the name of the file; of a file called `prompt`, by its folder. */
  readonly name?: string | undefined;
  /** What a relative path is relative to. Default: the root. */
  readonly cwd?: string | undefined;
}

/** Something that does not become a part of a skill. */
export interface NotImported {
  readonly path: string;
  readonly reason: string;
}

/** What would be made; it has no entry in the lock. */
export interface ImportPlan extends AddPlan {
  /** Parts that become no skill. */
  readonly refused: readonly NotImported[];
  /** Files of roles that do not come along. */
  readonly leftOut: readonly NotImported[];
  /** Jinja in the skills, which nothing renders there; lines are 1-based; at most 1,000 of a file. */
  readonly unrendered: readonly {
    readonly skillId: string;
    readonly path: string;
    readonly line: number;
    readonly text: string;
  }[];
  /** What stays of a prompt. */
  readonly prompt?: string;
}

/** What would be installed. Contents are kept: what is written is what was shown. */
export interface AddPlan {
  /** For people. */
  readonly origin: string;
  /** What decisions about it name: an address, `npm:<name>` or a folder. Absent for what the lock names. */
  readonly source?: string | undefined;
  readonly skills: readonly SkillToAdd[];
  /** Names in the lock of those that are installed from there already: they stay as they are. */
  readonly installed: readonly string[];
  /** Paths that say they are skills and cannot be read as one. */
  readonly unreadable: readonly string[];
  /** Installs them. @throws SKILL_INVALID, SKILL_EXISTS, SOURCE_NOT_WRITABLE, INVALID_ARGUMENT, LOCK_INVALID, WRITE_FAILED. */
  apply(actor: Actor): Promise<readonly ChangedSkill[]>;
}

/** One skill that would be installed, for a person to look at. */
export interface SkillToAdd {
  readonly id: string;
  /** What it calls itself; its name in the lock. */
  readonly name: string;
  readonly description: string;
  /** Of its body. */
  readonly tokens: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** Files that are not taken along: secrets by their names, and leftovers. */
  readonly leftOut: number;
  /** Files that may be run. */
  readonly scripts: readonly string[];
  readonly allowedTools: readonly string[];
  /** Ids. */
  readonly requires: readonly string[];
  /** What it requires and neither the origin nor this registry has. */
  readonly missing: readonly string[];
  /** It is taken because another one requires it. */
  readonly alongWith: boolean;
  /** Absolute path of the folder it gets. */
  readonly folder: string;
  /** What its id does to skills that exist, as a sentence; undefined: nothing. */
  readonly collides: string | undefined;
  /** Findings in its files, most important first. */
  readonly findings: readonly Finding[];
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
  /** The last decision about it, or about a folder around it (`path`), on this machine; undefined: none, so the approval of the root counts. */
  readonly decision: Pick<Decision, 'action' | 'at' | 'by' | 'path' | 'reason'> | undefined;
  /** Ids of the sources of the config that it is. */
  readonly inConfig: readonly string[];
}

/** How the files on disk compare with the lock. */
export interface LockedSkill {
  readonly id: string;
  /** In the lock. */
  readonly name: string;
  readonly source: string;
  /**
   * `same`; `drifted`: somebody has changed it here since; `absent`: it is not there; `broken`: its entry breaks the format, and
   * `reason` says how.
   */
  readonly state: 'same' | 'drifted' | 'absent' | 'broken';
  /** Only a hash is known that two different folders can share: another tool has written the entry. */
  readonly weak: boolean;
  /** Paths that differ, as far as the lock names them. */
  readonly changed: readonly string[];
  readonly reason?: string | undefined;
}

export interface UpdatePlan {
  readonly skills: readonly SkillUpdate[];
  /** Writes what is `outdated`. @throws as `AddPlan.apply`. */
  apply(actor: Actor): Promise<readonly ChangedSkill[]>;
}

/** What an update would do to one installed skill. */
export interface SkillUpdate {
  readonly id: string;
  /** In the lock. */
  readonly name: string;
  readonly source: string;
  /**
   * `current`: there is nothing newer; `outdated`: `files` would change; `waiting`: proposals of its last update are not decided;
   * `moved`: the tag names another commit than when it was installed, and is not followed; `absent`: it is not on disk; `failed`:
   * `reason` says why this is not known.
   */
  readonly state: 'current' | 'outdated' | 'waiting' | 'moved' | 'absent' | 'failed';
  /** Somebody has changed it here since it was installed. */
  readonly drifted: boolean;
  readonly files: readonly FileUpdate[];
  /** Findings in the new files that were not in the old ones, most important first. */
  readonly findings: readonly Finding[];
  /** What would change here, as a unified diff of the text files; empty when nothing would. */
  readonly diff: string;
  readonly reason?: string | undefined;
}

/** What an update does to one file. */
export interface FileUpdate {
  readonly path: string;
  /**
   * `added`, `changed`, `removed`: as the origin has it; `kept`: only changed here; `merged`: changed here and there; `conflict`: in the
   * same lines, or what was installed is not known any more: it stays as it is here, and a proposal asks what it is to be.
   */
  readonly change: 'added' | 'changed' | 'removed' | 'kept' | 'merged' | 'conflict';
}

/** Where skills are taken from. */
export type Origin = GitOrigin | NpmOrigin | FolderOrigin | ArchiveOrigin | WellKnownOrigin;

export interface GitOrigin {
  readonly kind: 'git';
  /** `https:`, `ssh:`, `file:`, `git@host:path`, or `http:` on this machine. */
  readonly url: string;
  /** A branch, a tag or a commit. Absent: what the repository's HEAD names. */
  readonly ref?: string;
  /** The folder in the repository below which skills are looked for. Absent: all of it. */
  readonly path?: string;
}

export interface NpmOrigin {
  readonly kind: 'npm';
  readonly name: string;
  /** A version, a range or a tag. */
  readonly range: string;
}

export interface FolderOrigin {
  readonly kind: 'folder';
  /** Absolute. */
  readonly path: string;
}

export interface ArchiveOrigin {
  readonly kind: 'archive';
  /** An absolute path, or an `https:` address (`http:` on this machine). */
  readonly location: string;
}

export interface WellKnownOrigin {
  readonly kind: 'well-known';
  /** The page below which `.well-known/agent-skills/index.json` is; no slash at its end. */
  readonly url: string;
}

/** What `skills-lock.json` says of the files of one skill. */
export interface LockedFiles {
  /** `sha256:<64 hex>` over the sorted `files`, each with a line feed. */
  readonly digest: string;
  /** `sha256:<64 hex> <bytes> <644 or 755> <path>`, in the order of the paths. */
  readonly files: readonly string[];
}

/** What the lock keeps of one installed skill; other tools read and write the same fields. Unknown ones are kept as they are. */
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
  /** Ours. Absent where another tool has written the entry. */
  readonly registry?: (LockedFiles & { readonly commit?: string | undefined }) | undefined;
  readonly [unknown: string]: unknown;
}
