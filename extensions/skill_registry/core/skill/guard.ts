/** What leaves of skills, and who says whether it may. The core asks; it does not know who answers. No code. */
import type { Skill, SkillListing } from './skill.ts';

/** `block`: it looks like an attack. `warn`: look at it before you approve. `info`: a fact. */
export type FindingLevel = 'block' | 'warn' | 'info';

export interface Finding {
  /** Stable, such as `fetch-and-run`. */
  readonly rule: string;
  readonly level: FindingLevel;
  /** Relative to the skill, with `/` between segments. */
  readonly file: string;
  /** 1-based; undefined when the finding is about the file itself. */
  readonly line?: number;
  /** The author's words: one line, escaped, shortened, secrets masked. Empty when it is about the file itself. */
  readonly excerpt: string;
  /** Our words. */
  readonly message: string;
}

export interface InspectedFile {
  /** Relative to the skill, with `/` between segments. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Whether the file system marks it as a program. Default: false. */
  readonly executable?: boolean;
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
  /** False: an inspection that costs more than 200 ms goes on, and the answer has `retryAfterMs`. Default: true. */
  readonly wait?: boolean;
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
  | {
      readonly given: true;
      readonly heldBecause?: string;
      readonly listing?: SkillListing | undefined;
    }
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
  /** Judges at least what the lines of skills can have, before a snapshot shows them first. */
  prepare(skills: Iterable<Skill>): Promise<void>;
  /** Why skills are held that another process has judged since they were listed, by qualified id. Cheap if none is. */
  heldMeanwhile(skills: Iterable<Skill>): ReadonlyMap<string, string>;
  /** Whether a model may be given the name of a file; undefined: of none, because none was inspected. */
  namesOf(skill: Skill): ((path: string) => boolean) | undefined;
  /** Whether a model may be given names that an author wrote outside of skills. */
  mayName(names: readonly string[]): Promise<boolean>;
  /** How many of them were not inspected with all their files yet. */
  notInspected(skills: Iterable<Skill>): number;
  /** Whether an agent may get a file of no skill below a source. `path`: relative to that source. */
  mayGive(file: InspectedFile): Promise<boolean>;
  readonly noteBlocked: NoteBlocked;
}

export interface RemoteFiles {
  /** As `SkillTrust.digest`; undefined when the skill is no longer listed. */
  digestOf(skill: Skill): string | undefined;
  /** All files that can be handed out, each compared with its entry. @throws MCP_SERVER_FAILED, MCP_FILE_REFUSED. */
  read(skill: Skill): Promise<readonly InspectedFile[]>;
}

/** Notes `block` findings in what a server sent. @returns whether a person has allowed the content with this digest. */
export type NoteBlocked = (skill: Skill, digest: string, findings: readonly Finding[]) => Promise<boolean>;
