import type { FindingLevel } from './types.ts';

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

/** A text of SKILL.md, or the texts of files by path. */
export type Sample = string | Readonly<Record<string, string>>;

interface RuleText {
  /** Stable: approvals name it. */
  readonly id: string;
  readonly level: FindingLevel;
  readonly family: Family;
  /** What was found, in one line. */
  readonly message: string;
  readonly why: string;
  /** What an author does about it. */
  readonly mend: string;
  /** Texts in which it must be found, and in which it must not. */
  readonly hits: readonly Sample[];
  readonly misses: readonly Sample[];
}

/** Searches passages of text. */
export interface PassageRule extends RuleText {
  readonly patterns: readonly Pattern[];
}

/** Searches one whole file; for what needs more than patterns. */
export interface FileRule extends RuleText {
  readonly find: (file: ReadFile) => Iterable<Match>;
}

export type Rule = PassageRule | FileRule;

/** Expressions that match near each other. They are for folded text in lower case, are global, and take linear time. */
export interface Pattern {
  readonly all: readonly RegExp[];
  /** Most characters between two that follow each other. Default: 160. */
  readonly within?: number;
  /** Whether they come in this order. Default: true. */
  readonly ordered?: boolean;
  /** Not where this matches in the match or in the 100 characters before and after it. */
  readonly unless?: RegExp;
  /** Not where this matches in the 100 characters before it. */
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
}

/** What rules see of a file. */
export interface ReadFile {
  readonly path: string;
  readonly kind: 'text' | 'binary';
  /** As prose is read, and not as code. */
  readonly prose: boolean;
  readonly executable: boolean;
  readonly bytes: Uint8Array;
  /** Empty for a binary file. */
  readonly text: string;
}

/** Where a rule matches. */
export interface Match {
  /** 1-based; absent when it is about the file itself. */
  readonly line?: number;
  /** The author's words; escaped and shortened when it is told. */
  readonly words: string;
  /** Said instead of the rule's message. */
  readonly message?: string;
}
