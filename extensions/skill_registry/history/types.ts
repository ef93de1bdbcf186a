/** What callers see of the history. */
import type { TurnContext } from 'skill-registry/kernel';

/** One past content of a skill. */
export interface Revision {
  /** From 1, per skill. */
  readonly number: number;
  /** `sha256:<64 hex>` over the paths and contents of its files. */
  readonly digest: string;
  readonly skillId: string;
  readonly kind:
    | 'seen'
    | 'edited'
    | 'proposal'
    | 'tool'
    | 'created'
    | 'installed'
    | 'updated'
    | 'rollback'
    | 'removed'
    | 'restored';
  readonly at: string;
  readonly by: string;
  readonly reason: string | null;
  /** Id of the proposal that made it. */
  readonly proposal: string | null;
  readonly files: readonly RevisionFile[];
}

export interface RevisionFile {
  readonly path: string;
  readonly digest: string;
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  /** False: too large to be kept; only its digest is known. */
  readonly kept: boolean;
}

export interface Actor {
  /** `person:ada`, `agent:builder_agent`. */
  readonly by: string;
  readonly reason?: string | undefined;
}

export interface History {
  /** Oldest first; of a removed skill, too. @throws SKILL_NOT_FOUND. */
  revisions(skillId: string): Promise<readonly Revision[]>;
  /** @param revision - A number, or the beginning of a digest. @throws REVISION_NOT_FOUND, RESOURCE_NOT_FOUND. */
  read(skillId: string, revision: string | number, path?: string): Promise<Uint8Array>;
  /** A unified diff of all files. */
  diff(skillId: string, a: string | number, b: string | number): Promise<string>;
  /** Makes a skill what it was; that is a revision, too. @throws as `approve`, REVISION_NOT_FOUND, REVISION_INCOMPLETE. */
  rollback(skillId: string, revision: string | number, actor: Actor): Promise<Revision>;
  /** Brings a removed skill back. @throws SKILL_NOT_FOUND, SKILL_EXISTS, WRITE_FAILED. */
  restore(skillId: string, actor: Actor): Promise<Revision>;
}

/** What a file is to be. */
export type FileContent = string | null | ((present: string) => string);

/**
 * Changes at once, by whoever may; `writes` is for the callers to ask. Each is a revision. With a turn, what its agent does not
 * see is not there (SKILL_NOT_FOUND).
 */
export interface Management {
  /** @param content - SKILL.md. @throws INVALID_ARGUMENT, SKILL_EXISTS, SKILL_INVALID, SOURCE_NOT_WRITABLE. */
  create(skillId: string, content: string, actor: Actor): Promise<Revision>;
  /**
   * @param content - Of the file; null removes it; a function is given what the file says when nobody else can change it, and
   *   must be quick. @throws PROPOSAL_NO_CHANGE, SKILL_INVALID, RESOURCE_NOT_FOUND, NOT_TEXT, PATH_TRAVERSAL, WRITE_FAILED.
   */
  write(skillId: string, path: string, content: FileContent, actor: Actor, turn?: TurnContext): Promise<Revision>;
  /** Archives it. */
  remove(skillId: string, actor: Actor, turn?: TurnContext): Promise<Revision>;
}

/** The methods that wait until the history is open. */
export const HISTORY_METHODS: Readonly<Record<keyof History, true>> = {
  ...{ revisions: true, read: true, diff: true, rollback: true, restore: true },
};
export const MANAGEMENT_METHODS: Readonly<Record<keyof Management, true>> = { create: true, write: true, remove: true };

/** What the owner allows to do with a path that lies in a source. */
export interface WritePolicy {
  readonly action: 'create' | 'update' | 'delete';
  readonly policy: 'allow' | 'propose' | 'deny';
  readonly source: string;
  /** Why it is `deny` whatever `writes` says. */
  readonly reason?: string;
  /** What a proposal would be about; absent when none can be made for this path. */
  readonly target?: { readonly kind: 'create' | 'update'; readonly skillId: string; readonly path: string } | undefined;
  /** Of a file that would be read as a skill and is no `target`: what a text must not lack to be written without review. */
  readonly lacks?: (text: string) => readonly string[];
}
