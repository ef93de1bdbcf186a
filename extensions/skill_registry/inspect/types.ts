/** How much a finding matters: `block` is what a person would call an attack, `warn` is worth a look before approving, `info` is a fact. */
export type FindingLevel = 'block' | 'warn' | 'info';

/** What an inspection says of the files of a skill. */
export interface Finding {
  /** Stable id of a rule, such as `fetch-and-run`. */
  readonly rule: string;
  readonly level: FindingLevel;
  /** Relative to the skill, with `/` between segments. */
  readonly file: string;
  /** 1-based. Absent when the finding is about the file itself. */
  readonly line?: number;
  /** The author's words: one line, escaped, shortened, secrets masked. Empty when the finding is about the file itself. */
  readonly excerpt: string;
  /** Our words. */
  readonly message: string;
}

export interface InspectedFile {
  /** Relative to the skill, with `/` between segments. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Whether the file system says that it may be run. Default: false. */
  readonly executable?: boolean;
}

export interface Inspection {
  /** The highest level of the findings; `info` when there are none. */
  readonly verdict: FindingLevel;
  /** Most important first: by level, then by file and line. */
  readonly findings: readonly Finding[];
}

/** One rule, without what it searches for. */
export interface InspectionRule {
  /** Stable: approvals name it. */
  readonly id: string;
  readonly level: FindingLevel;
  /** What it is about: `install lures`, `secrets`, `instructions`, ... */
  readonly family: string;
  /** What was found, in one line. */
  readonly message: string;
  readonly why: string;
  /** What an author does about it. */
  readonly mend: string;
}
