import type { TurnContext } from 'skill-registry/kernel';
import type { Actor } from '../../core/checked-calls.ts';
import type { Finding } from '../../core/skill/guard.ts';

export type { Actor } from '../../core/checked-calls.ts';

export interface Revision {
  /** Counted from 1 for each skill. */
  readonly number: number;
  /** `sha256:<64 hex>` over paths and contents of its files. */
  readonly digest: string;
  readonly skillId: string;
  readonly kind:
    | ('seen' | 'edited' | 'proposal' | 'tool' | 'created')
    | ('installed' | 'updated' | 'rollback' | 'removed' | 'restored');
  /** ISO 8601, UTC. */
  readonly at: string;
  /** As `Actor.by`; `unknown` for a change that the registry found on disk. */
  readonly by: string;
  readonly reason: string | null;
  /** Id of the proposal that it applied. */
  readonly proposal: string | null;
  readonly files: readonly RevisionFile[];
}

export interface RevisionFile {
  /** Relative to the skill, `/` between segments. */
  readonly path: string;
  /** `sha256:<64 hex>`; `size:<bytes>` when `kept` is false. */
  readonly digest: string;
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  /** False: larger than `limits.file_bytes`; only the size is recorded. */
  readonly kept: boolean;
}

/** Who makes a change that can put an attack into a skill. */
export interface Decider extends Actor {
  /**
   * `digest` of `admin.blockFindingsAfter`: only a skill with the files that were inspected is written, else
   * SHOWN_CHANGED. Default: any.
   */
  readonly inspected?: string | null | undefined;
}

export type ChangeToApprove =
  | { /** Whole. */ readonly proposalId: string }
  | { readonly skillId: string; readonly revision: string | number }
  | { /** Of a removed skill. */ readonly restoredId: string };

/** What an inspection finds in a skill as a change would leave it. */
export interface InspectedChange {
  /** Findings of level `block` that nobody has allowed. */
  readonly blocks: readonly Finding[];
  /**
   * For `inspected` of the decision; null: the change cannot be made now. Where something was found, it is that of
   * `trustOf` once the change is made.
   */
  readonly digest: string | null;
  /** What the skill would reach beyond now, in one line. */
  readonly reaches?: string;
}

export interface History {
  /** Oldest first, also of a removed skill. @throws SKILL_NOT_FOUND. */
  revisions(skillId: string): Promise<readonly Revision[]>;
  /** @param revision - A number, or at least 4 characters from the start of a digest. @throws REVISION_NOT_FOUND. */
  revision(skillId: string, revision: string | number): Promise<Revision>;
  /** @param path - Default: SKILL.md. @throws REVISION_NOT_FOUND, RESOURCE_NOT_FOUND. */
  read(skillId: string, revision: string | number, path?: string): Promise<Uint8Array>;
  /** A unified diff of all files from `a` to `b`; `present` names the files on disk. @throws as `read`. */
  diff(skillId: string, a: string | number, b: string | number): Promise<string>;
  /** Writes an earlier content, as a new revision. @throws as `approve`, REVISION_NOT_FOUND, REVISION_INCOMPLETE. */
  rollback(skillId: string, revision: string | number, actor: Decider): Promise<Revision>;
  /**
   * Brings a removed skill back.
   * @throws SKILL_NOT_FOUND, SKILL_EXISTS, SOURCE_NOT_WRITABLE, REVISION_INCOMPLETE, WRITE_FAILED.
   */
  restore(skillId: string, actor: Decider): Promise<Revision>;
}

/** New text of a file, null to remove it, or a function of the present text. */
export type FileContent = string | null | ((present: string) => string);

/**
 * Changes without review, each a revision. The caller must check `writes` first. With a turn, only visible skills are
 * found (else SKILL_NOT_FOUND).
 */
export interface Management {
  /** @param content - SKILL.md. @throws INVALID_ARGUMENT, SKILL_EXISTS, SKILL_INVALID, SOURCE_NOT_WRITABLE. */
  create(skillId: string, content: string, actor: Actor): Promise<Revision>;
  /**
   * Writes a SKILL.md below other folders, or a bare `.md` file. @param path - Absolute, real.
   * @returns undefined when an ignore file or a limit hides the skill.
   * @throws SKILL_EXISTS, SKILL_INVALID, SOURCE_NOT_WRITABLE, WRITE_FAILED.
   */
  add(path: string, content: string, actor: Actor): Promise<Revision | undefined>;
  /**
   * @param content - A function must be quick: nobody else can write while it runs.
   * @throws PROPOSAL_NO_CHANGE, SKILL_INVALID, RESOURCE_NOT_FOUND, NOT_TEXT, PATH_TRAVERSAL, WRITE_FAILED.
   */
  write(skillId: string, path: string, content: FileContent, actor: Actor, turn?: TurnContext): Promise<Revision>;
  /**
   * Writes SKILL.md as the loader repairs it. Call `refresh` afterwards, once for many repairs.
   * @param shown - The whole new text that a person saw.
   * @throws SHOWN_CHANGED when it differs now, PROPOSAL_NO_CHANGE, SKILL_NOT_FOUND, SOURCE_NOT_WRITABLE, WRITE_FAILED.
   */
  repair(skillId: string, shown: string, actor: Actor): Promise<Revision>;
  /** Moves the skill to the archive. @throws INVALID_ARGUMENT, SOURCE_NOT_WRITABLE, WRITE_FAILED. */
  remove(skillId: string, actor: Actor, turn?: TurnContext): Promise<Revision>;
}

export interface WritePolicy {
  readonly action: 'create' | 'update' | 'delete';
  readonly policy: 'allow' | 'propose' | 'deny';
  readonly source: string;
  /** Why it is `deny` although `writes` allows it. */
  readonly reason?: string;
  /** What a proposal for this path would change; absent when none is possible. */
  readonly target?: { readonly kind: 'create' | 'update'; readonly skillId: string; readonly path: string } | undefined;
  /** The id that the file would have as a skill, if it is no `target`; write it with `Management.add`. */
  readonly skillId?: string;
}

export type WriteMode = 'allow' | 'propose' | 'deny';

export interface Writes {
  readonly create: WriteMode;
  readonly update: WriteMode;
  readonly delete: WriteMode;
}
