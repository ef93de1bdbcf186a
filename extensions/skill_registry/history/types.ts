/** What callers see of the history. */
import type { TurnContext } from 'skill-registry/kernel';

/** One past content of a skill. */
export interface Revision {
  /** Counted from 1 for each skill. */
  readonly number: number;
  /** `sha256:<64 hex>` over the paths and contents of its files. */
  readonly digest: string;
  readonly skillId: string;
  readonly kind:
    | ('seen' | 'edited' | 'proposal' | 'tool' | 'created')
    | ('installed' | 'updated' | 'rollback' | 'removed' | 'restored');
  /** ISO 8601, UTC. */
  readonly at: string;
  /** As `Actor.by`; `unknown` for changes that the registry found on disk. */
  readonly by: string;
  readonly reason: string | null;
  /** Id of the proposal that it applied; else null. */
  readonly proposal: string | null;
  readonly files: readonly RevisionFile[];
}

export interface RevisionFile {
  /** Relative to the skill, `/` between segments. */
  readonly path: string;
  /** `sha256:<64 hex>`; `size:<bytes>` when `kept` is false. */
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  /** False: larger than `limits.file_bytes`, so only its size is recorded. */
  readonly kept: boolean;
}

export interface Actor {
  /** `person:<name>`, `agent:<id>` or `unknown`, in that case; at most 200 characters, none of them a control character. */
  readonly by: string;
  readonly reason?: string | undefined;
}

export interface History {
  /** Oldest first, also of a removed skill. @throws SKILL_NOT_FOUND. */
  revisions(skillId: string): Promise<readonly Revision[]>;
  /** @param revision - A number, or at least 4 characters from the start of a digest. @throws REVISION_NOT_FOUND. */
  revision(skillId: string, revision: string | number): Promise<Revision>;
  /** @param path - Default: SKILL.md. @throws REVISION_NOT_FOUND, RESOURCE_NOT_FOUND. */
  read(skillId: string, revision: string | number, path?: string): Promise<Uint8Array>;
  /** A unified diff of all files from revision `a` to revision `b`; `present` is the files as they lie on disk. @throws as `read`. */
  diff(skillId: string, a: string | number, b: string | number): Promise<string>;
  /** Writes an earlier content of a skill, as a new revision. @throws as `approve`, REVISION_NOT_FOUND, REVISION_INCOMPLETE. */
  rollback(skillId: string, revision: string | number, actor: Actor): Promise<Revision>;
  /** Restores a removed skill. @throws SKILL_NOT_FOUND, SKILL_EXISTS, SOURCE_NOT_WRITABLE, REVISION_INCOMPLETE, WRITE_FAILED. */
  restore(skillId: string, actor: Actor): Promise<Revision>;
}

/** The new content of a file: text, null to remove it, or a function of the present text. */
export type FileContent = string | null | ((present: string) => string);

/**
 * Changes skills without review; each change is a revision. The caller must check `writes` first. With a turn, a skill that its agent
 * may not see is SKILL_NOT_FOUND.
 */
export interface Management {
  /** @param content - SKILL.md. @throws INVALID_ARGUMENT, SKILL_EXISTS, SKILL_INVALID, SOURCE_NOT_WRITABLE. */
  create(skillId: string, content: string, actor: Actor): Promise<Revision>;
  /**
   * Writes a new file that is a skill, anywhere in a source: a SKILL.md below other folders, or a bare `.md` file.
   *
   * @param path - Absolute, real.
   * @returns undefined when the sources do not show the skill, because an ignore file or a limit leaves it out.
   * @throws SKILL_EXISTS, SKILL_INVALID, SOURCE_NOT_WRITABLE, WRITE_FAILED.
   */
  add(path: string, content: string, actor: Actor): Promise<Revision | undefined>;
  /**
   * @param content - A function is called while nobody else can change the file, and must be quick.
   * @throws PROPOSAL_NO_CHANGE, SKILL_INVALID, RESOURCE_NOT_FOUND, NOT_TEXT, PATH_TRAVERSAL, WRITE_FAILED.
   */
  write(skillId: string, path: string, content: FileContent, actor: Actor, turn?: TurnContext): Promise<Revision>;
  /**
   * Writes SKILL.md as the loader repairs it: quotes, name, byte order mark, blank lines before and the end of the frontmatter, a
   * frontmatter where there is none, the name of the file.
   * The catalog has it after the next `refresh`, so that one is enough for many.
   *
   * @param shown - The whole new text, as a person was shown it. @throws SHOWN_CHANGED when it would be another one now,
   *   PROPOSAL_NO_CHANGE, SKILL_NOT_FOUND, SOURCE_NOT_WRITABLE, WRITE_FAILED.
   */
  repair(skillId: string, shown: string, actor: Actor): Promise<Revision>;
  /** Moves the skill to the archive. @throws INVALID_ARGUMENT, SOURCE_NOT_WRITABLE, WRITE_FAILED. */
  remove(skillId: string, actor: Actor, turn?: TurnContext): Promise<Revision>;
}

/** What the owner allows for a path in a source. */
export interface WritePolicy {
  readonly action: 'create' | 'update' | 'delete';
  readonly policy: 'allow' | 'propose' | 'deny';
  readonly source: string;
  /** Why it is `deny` although `writes` says otherwise. */
  readonly reason?: string;
  /** What a proposal for this path would change; absent when none is possible. */
  readonly target?: { readonly kind: 'create' | 'update'; readonly skillId: string; readonly path: string } | undefined;
  /** The id of the skill that the file would be, where it is no `target`: such a file is written with `Management.add`. */
  readonly skillId?: string;
}
