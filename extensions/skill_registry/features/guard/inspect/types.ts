/** `block`: a person would call it an attack. `warn`: look at it before you approve. `info`: a fact. */
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

export interface Inspection {
  /** The highest level of the findings; `info` without any. */
  readonly verdict: FindingLevel;
  /** Most important first: by level, then by file and line. */
  readonly findings: readonly Finding[];
}

export interface InspectionRule {
  /** Stable: approvals name it. */
  readonly id: string;
  readonly level: FindingLevel;
  /** `install lures`, `secrets`, `instructions`, ... */
  readonly family: string;
  readonly message: string;
  readonly why: string;
  /** What an author can do about it. */
  readonly mend: string;
}
