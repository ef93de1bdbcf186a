import type { InspectionRule } from './types.ts';

/** What a rule is about; the order of docs/security.md. */
export type Family =
  | 'install lures'
  | 'download and run'
  | 'hidden commands'
  | 'secrets'
  | 'instructions'
  | 'persistence'
  | 'destruction'
  | 'characters'
  | 'files'
  | 'permissions';

interface RuleText extends InspectionRule {
  readonly family: Family;
}

/** Searches passages of text. */
export interface PassageRule extends RuleText {
  readonly patterns: readonly Pattern[];
}

/** Searches one whole file; for what needs more than patterns. */
export interface FileRule extends RuleText {
  /** `undefined` between steps, for a break: a step takes a few milliseconds at most. */
  readonly find: (file: ClassifiedFile, skill: readonly ClassifiedFile[]) => Iterable<Match | undefined>;
}

/** Found where rules of both lists are found close to each other in one file. */
export interface CombinedRule extends RuleText {
  readonly near: readonly [readonly string[], readonly string[]];
  /** Most lines between them. */
  readonly lines: number;
}

export type Rule = PassageRule | FileRule | CombinedRule;

/** What a rule searches for. Expressions are for folded text in lower case, have no flags, and take linear time. */
export interface Pattern {
  /** One expression, or several that match near each other. */
  readonly match: RegExp | readonly RegExp[];
  /** A part of every match. For an expression of which nothing tells how its matches begin: a fast test. */
  readonly needs?: RegExp;
  /** Most characters between two that follow each other. Default: 160. */
  readonly within?: number;
  /** Whether they come in this order. Default: true. */
  readonly ordered?: boolean;
  /** Whether no sentence and no line ends between them. Default: false. */
  readonly sentence?: boolean;
  /** What is meant by something else, where this matches in the sentence or line. A finding of level `block` is a `warn` there. */
  readonly unless?: RegExp;
  /** The same for what ends right before the match. Not in scripts. A negation counts without being named here. */
  readonly unlessBefore?: RegExp;
  /** `code`: only in files that are no prose. `prose`: only in prose. Default: both. */
  readonly where?: 'code' | 'prose';
  /** `file`: they may be anywhere in one file; `within` does not count. Default: `passage`. */
  readonly scope?: 'passage' | 'file';
}

/** A part of a file: whole lines, at most some thousand characters. */
export interface Passage {
  /** Folded, in lower case, without marks of Markdown; offsets are those of `shown`. */
  readonly text: string;
  readonly shown: string;
  /** 1-based line of an offset. */
  readonly lineAt: (offset: number) => number;
  /** The headings above an offset, in lower case; `undefined` in frontmatter. */
  readonly headingsAt: (offset: number) => string | undefined;
}

/** A part of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What rules see of a file. */
export interface ClassifiedFile {
  readonly path: string;
  readonly kind: 'text' | 'binary';
  /** As prose is read, and not as code. */
  readonly prose: boolean;
  /** Whether an agent may run it. */
  readonly script: boolean;
  readonly executable: boolean;
  readonly bytes: Uint8Array;
  /** Empty for a binary file. */
  readonly text: string;
}

/**
 * How a text speaks of what it names. `negated`: the same clause says not to do it. `listed`: it stands in a list of what is
 * dangerous, or is an expression that searches for it.
 */
export type Stance = 'negated' | 'listed' | undefined;

/** Where a rule matches. */
export interface Match {
  /** 1-based; absent when it is about the file itself. */
  readonly line?: number;
  /** The author's words; escaped and shortened before they are shown. */
  readonly words: string;
  /** Said instead of the rule's message. */
  readonly message?: string;
  /** How the text around it speaks of it. Default: as of something to do. */
  readonly stance?: Stance;
}
