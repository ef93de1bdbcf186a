/** What an inspection says of skills, and who may decide about it. No code. */
import type { Finding, FindingLevel, InspectedFile } from '../inspect/types.ts';
import type { Skill, SkillListing } from '../skill/skill.ts';

export type { Finding, FindingLevel } from '../inspect/types.ts';

/** The present files of a skill, as they were inspected. */
export interface SkillTrust {
  readonly skillId: string;
  readonly qualifiedId: string;
  /** `sha256:<64 hex>` over paths, sizes, modes and contents of its files; on an MCP server, over its entry, which lists them. */
  readonly digest: string;
  /** `own`: it lies in a folder of the user. `brought-in`: it was installed, or comes from a package, a pack or an address. */
  readonly origin: 'own' | 'brought-in';
  readonly verdict: FindingLevel;
  /** Most important first. */
  readonly findings: readonly Finding[];
  /** Why no agent is given it; null when agents are. */
  readonly heldBecause: string | null;
  /** Whether a person has allowed its `block` findings. */
  readonly allowed: boolean;
}

/** Who decides about a held skill. */
export interface TrustDecision {
  readonly by: string;
  readonly reason?: string | undefined;
  /** The digest that the person was shown. Default: that of the present files. */
  readonly digest?: string | undefined;
}

/** What is about to leave the registry, and to whom. */
interface Leaving {
  readonly skill: Skill;
  /** Who gets it in the end: what a person loads in a conversation goes to a model. */
  readonly audience: 'model' | 'person' | 'binding';
}

/** What the catalog says of a skill. */
export interface LeavingLine extends Leaving {
  readonly kind: 'line';
}

/** `body`: SKILL.md, or its body. `file`: another file. `derived`: what was made of files: an error that quotes them, results of test cases. */
export interface LeavingBytes extends Leaving, Partial<JudgedFile> {
  readonly kind: 'body' | 'file' | 'derived';
}

/** One file as it was read, which may be another one than the file that lies there now. */
export interface JudgedFile {
  /** Relative to the skill; SKILL.md may have another name there. */
  readonly path: string;
  /** The very bytes that leave, or of which something was made. */
  readonly bytes: Uint8Array;
  /** Of these bytes, as of `digestOf`. */
  readonly digest: string;
}

/**
 * `heldBecause`: why no agent is given it. A person is given it all the same, marked with that. `listing`: the files beside it, where the
 * guard has listed them.
 */
export type Admission =
  | { readonly given: true; readonly heldBecause?: string; readonly listing?: SkillListing | undefined }
  | {
      readonly given: false;
      readonly code: 'SKILL_HELD' | 'SKILL_NOT_INSPECTED';
      /** Those of the level `block`. */
      readonly findings: readonly Finding[];
      readonly heldBecause: string;
      readonly listing?: undefined;
      /** When to ask again; absent: not before something changes. */
      readonly retryAfterMs?: number;
    };

/** The one function through which bytes of skills leave. */
export interface Guard {
  /**
   * Says whether this may leave: at once for a line; else after it has judged the very bytes that leave, together with the other files
   * of the skill as they are now. Without bytes it judges the present files.
   *
   * @throws RESOURCE_NOT_FOUND when SKILL.md is gone, so that nothing can be judged.
   */
  readonly admit: {
    (leaving: LeavingLine): Admission;
    (leaving: LeavingBytes): Promise<Admission>;
  };
}

/** A change that a person is about to make. */
export type ChangeToApprove =
  | { /** Whole. */ readonly proposalId: string }
  | { readonly skillId: string; readonly revision: string | number }
  | { /** Of a removed skill. */ readonly restoredId: string };

export interface Present {
  readonly stamp: string;
  readonly listing: SkillListing | undefined;
}

/** The files of skills, as they lie on disk now. */
export interface SkillFiles {
  /**
   * `stamp`: equal as long as no file has changed; empty when that cannot be told from the stats. `listing`: the files that were looked
   * at, as `SkillSource.listing` takes them; undefined where it has to list them itself.
   */
  stamp(skill: Skill): Generator<undefined, Present, undefined>;
  /** All files, SKILL.md first, read one by one, and what was not read; `undefined` now and then, for a break. @throws RESOURCE_NOT_FOUND when SKILL.md is gone. */
  read(skill: Skill): Iterable<InspectedFile | Finding | undefined>;
}

/** The files of skills that lie on another machine, as their server lists them. */
export interface RemoteFiles {
  /** As `SkillTrust.digest`; undefined for a skill that is not listed any more. */
  digestOf(skill: Skill): string | undefined;
  /** Fetches all files that can be handed out, each compared with its entry. @throws MCP_SERVER_FAILED, MCP_FILE_REFUSED. */
  read(skill: Skill): Promise<readonly InspectedFile[]>;
}

/** Notes `block` findings in what a server gives. @returns Whether a person has allowed the content with this digest. */
export type NoteBlocked = (skill: Skill, digest: string, findings: readonly Finding[]) => Promise<boolean>;
