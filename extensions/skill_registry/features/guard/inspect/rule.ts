import type { Finding, FindingLevel } from '../../../core/skill/guard.ts';
import type { Folded } from './fold.ts';

/** Each has one of these. */
export interface Rule extends InspectionRule {
  readonly patterns?: readonly Pattern[];
  /** `undefined` between steps is a break: a step takes a few milliseconds at most. `path` has no folders. */
  readonly find?: (file: ClassifiedFile) => Iterable<Match | undefined>;
  /** Found where rules of both kinds, by their ids, match at most six lines from each other. */
  readonly near?: readonly [RegExp, RegExp];
  /** What it finds in all files together, and in what they reach: asked again when any of them has changed. */
  readonly whole?: (
    skill: readonly ClassifiedFile[],
    reach: readonly Reached[],
    findings: readonly Finding[],
  ) => Iterable<FileMatch | undefined>;
}

/** Expressions are for folded text in lower case, have no flags, and take linear time. */
export interface Pattern {
  /** All match near each other. */
  readonly match: readonly RegExp[];
  /** A fast test for an expression that does not tell how a match begins: a part of every match. */
  readonly needs?: RegExp;
  /** Most characters between two neighbours. Default: 160. */
  readonly within?: number;
  /** Whether they come in this order. Default: true. */
  readonly ordered?: boolean;
  /** Whether no sentence and no line ends between them. Default: false. */
  readonly sentence?: boolean;
  /** Not meant where this matches in the sentence or line: `block` becomes `warn`, other findings are dropped. */
  readonly unless?: RegExp;
  /** The same for text right before the match. Not in scripts. A negation counts without being named here. */
  readonly unlessBefore?: RegExp;
  /** Not meant where the same paragraph has the user decide. */
  readonly unlessAsked?: boolean;
  /** Only a fact where the text around matches this. */
  readonly factWhere?: RegExp;
  /** In several sentences it is an order only where each with a match of this begins with a verb. */
  readonly order?: RegExp;
  /** Only in code, or only in prose. Default: both. */
  readonly where?: 'code' | 'prose';
  /** They may be where a value flows in one file, and `within` does not count. Default: in one passage. */
  readonly scope?: 'file';
}

/** Whole lines, at most some thousand characters. */
export interface Passage {
  /** Folded, in lower case, without Markdown marks; offsets are those of `shown`. */
  readonly text: string;
  readonly shown: string;
  /** 1-based. */
  readonly lineAt: (offset: number) => number;
  /** The headings above an offset, in lower case; `undefined` in frontmatter. */
  readonly headingsAt: (offset: number) => string | undefined;
  /** Whether it is no prose. */
  readonly isCodeAt: (offset: number) => boolean;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface ClassifiedFile {
  readonly path: string;
  readonly kind: 'text' | 'binary';
  readonly prose: boolean;
  /** Whether an agent may run it. */
  readonly script: boolean;
  /** Whether its mode says so. */
  readonly executable: boolean;
  readonly bytes: Uint8Array;
  /** Empty for a binary file. */
  readonly text: string;
  /** While it is judged alone. */
  readonly folded?: Folded | undefined;
}

/**
 * `negated`: its clause says not to do it. `listed`: it is in a list of dangers, or in an expression that finds it.
 * `apart`: its parts are, so that no value flows. `fact`: it is told openly, and no more than that.
 */
export type Stance = 'negated' | 'listed' | 'apart' | 'fact' | undefined;

export interface Match {
  /** 1-based; undefined when it is about the file itself. */
  readonly line?: number;
  /** The author's words; escaped and shortened before they are shown. */
  readonly words: string;
  readonly message?: string;
  /** Default: the text asks to do it. */
  readonly stance?: Stance;
}

export interface FileMatch extends Match {
  readonly file: string;
}

export interface Inspection {
  /** The highest level of the findings; `info` without any. */
  readonly verdict: FindingLevel;
  /** Most important first: by level, then by file and line. */
  readonly findings: readonly Finding[];
  /** By kind. */
  readonly reach: readonly Reached[];
}

/** What code does outside the folder of its skill. */
export interface Reached {
  readonly kind: 'reads' | 'sends' | 'runs' | 'writes' | 'persists' | 'pays';
  /** A host, a program, a variable or a path: one escaped line. */
  readonly what: string;
  readonly file: string;
  /** 1-based: the first. */
  readonly line: number;
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
