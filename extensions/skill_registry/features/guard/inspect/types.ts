import type { Finding, FindingLevel } from '../../../core/skill/guard.ts';

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
