/** What inspections say of skills, and who decides about it. No code. */

import type { Skill, SkillListing } from '../../core/skill/skill.ts';
import type { Finding, FindingLevel, InspectedFile } from './inspect/types.ts';

export type { Finding, FindingLevel } from './inspect/types.ts';

export interface SkillTrust {
  readonly skillId: string;
  readonly qualifiedId: string;
  /** `sha256:<64 hex>` over paths, sizes, modes and contents of its files; on an MCP server over its list of them. */
  readonly digest: string;
  /** `own`: in a folder of the user. `brought-in`: installed, or from a package, a pack or an address. */
  readonly origin: 'own' | 'brought-in';
  readonly verdict: FindingLevel;
  /** Most important first. */
  readonly findings: readonly Finding[];
  /** Why no agent gets it; null when agents do. */
  readonly heldBecause: string | null;
  /** Whether a person has allowed its `block` findings. */
  readonly allowed: boolean;
}

export interface TrustDecision {
  readonly by: string;
  readonly reason?: string | undefined;
  /** The digest that the person was shown. Default: that of the present files. */
  readonly digest?: string | undefined;
}

interface Leaving {
  readonly skill: Skill;
  /** Who gets it in the end: what a person loads in a conversation goes to a model. */
  readonly audience: 'model' | 'person' | 'binding';
}

export interface LeavingLine extends Leaving {
  readonly kind: 'line';
}

/** `body`: SKILL.md, or its body. `file`: another file. `derived`: made of files, such as an error that quotes them. */
export interface LeavingBytes extends Leaving, Partial<JudgedFile> {
  readonly kind: 'body' | 'file' | 'derived';
}

/** A file as it was read; the one on disk may have changed since. */
export interface JudgedFile {
  /** Relative to the skill; SKILL.md always has this name here. */
  readonly path: string;
  /** The very bytes that leave, or of which something was made. */
  readonly bytes: Uint8Array;
  /** `digestOf` of these bytes. */
  readonly digest: string;
}

/** `heldBecause`: no agent gets it; a person does, with this reason. `listing`: other files, if known. */
export type Admission =
  | { readonly given: true; readonly heldBecause?: string; readonly listing?: SkillListing | undefined }
  | {
      readonly given: false;
      readonly code: 'SKILL_HELD' | 'SKILL_NOT_INSPECTED';
      /** Those of the level `block`. */
      readonly findings: readonly Finding[];
      readonly heldBecause: string;
      readonly listing?: undefined;
      /** When to ask again; undefined: not before something changes. */
      readonly retryAfterMs?: number;
    };

/** All bytes of skills leave through this one function. */
export interface Guard {
  /**
   * Says whether this may leave: at once for a line; else it first judges the very bytes that leave, with the other
   * files of the skill as they are now, or without bytes all present files.
   * @throws RESOURCE_NOT_FOUND when SKILL.md is gone.
   */
  readonly admit: {
    (leaving: LeavingLine): Admission;
    (leaving: LeavingBytes): Promise<Admission>;
  };
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
}

export interface Present {
  readonly stamp: string;
  readonly listing: SkillListing | undefined;
}

export interface SkillFiles {
  /** `stamp`: equal as long as no file has changed; empty when the stats cannot tell. `listing`: the files seen. */
  stamp(skill: Skill): Generator<undefined, Present, undefined>;
  /** SKILL.md first; findings are about what was not read; `undefined` is a break. @throws RESOURCE_NOT_FOUND. */
  read(skill: Skill): Iterable<InspectedFile | Finding | undefined>;
}

export interface RemoteFiles {
  /** As `SkillTrust.digest`; undefined when the skill is no longer listed. */
  digestOf(skill: Skill): string | undefined;
  /** All files that can be handed out, each compared with its entry. @throws MCP_SERVER_FAILED, MCP_FILE_REFUSED. */
  read(skill: Skill): Promise<readonly InspectedFile[]>;
}

/** Notes `block` findings in what a server sent. @returns whether a person has allowed the content with this digest. */
export type NoteBlocked = (skill: Skill, digest: string, findings: readonly Finding[]) => Promise<boolean>;
