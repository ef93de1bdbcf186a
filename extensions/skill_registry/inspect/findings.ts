import type { Problem } from 'skill-registry/kernel';
import { oneLine, withoutKeys } from '../../../lib/text/index.ts';
import type { FindingLevel } from './types.ts';

/** One computed fact about a proposed change. */
export interface Check {
  readonly kind:
    | 'tokens'
    | 'validation'
    | 'identity'
    | 'visibility'
    | 'description'
    | 'permissions'
    | 'instructions'
    | 'rules'
    | 'safeguards'
    | 'references'
    | 'script'
    | 'shell'
    | 'network'
    | 'secrets'
    | 'characters'
    | 'retrieval'
    | 'size'
    | 'diff';
  readonly level: FindingLevel;
  /** One line without control or invisible characters (they are shown as U+XXXX). */
  readonly text: string;
  /** 1-based line in the new text. */
  readonly line?: number;
}

export interface CheckInput {
  readonly skillId: string;
  /** Relative to the skill. */
  readonly path: string;
  /** Whether `path` is the skill's SKILL.md. */
  readonly isSkillFile: boolean;
  /** null: the file (or skill) is new. */
  readonly before: string | null;
  /** null: the file is removed. */
  readonly after: string | null;
  /** Relative paths of the files of the skill, to check new references. */
  readonly files: readonly string[];
  /** Returns the problems of a text under the profile of the source. Called for SKILL.md only. */
  readonly problemsOf: (text: string) => readonly Problem[];
}

/** Something that a text does, names or contains. */
export interface Fact {
  /** Two facts of one kind with the same key are the same thing. */
  readonly key: string;
  readonly level: Check['level'];
  /** Our words; quotes are escaped. */
  readonly what: string;
  /** The words of the author; escaped, shortened and without secrets when it is shown. */
  readonly quoted?: string;
  /** 1-based, in the new text; absent when it is not in the new text. */
  readonly line?: number;
}

/** Most important first. */
export const LEVELS: readonly FindingLevel[] = ['block', 'warn', 'info'];

/** At most this many checks of one kind are listed. */
export const MAX_LISTED = 20;

/** The checks of one kind, most important first and then by line. More than `MAX_LISTED` are only counted. */
export function listChecks(kind: Check['kind'], facts: readonly Fact[]): readonly Check[] {
  const sorted = [...facts].sort((left, right) => lineOrLast(left) - lineOrLast(right));
  const ordered = LEVELS.flatMap((level) => sorted.filter((fact) => fact.level === level));
  const listed = ordered.slice(0, MAX_LISTED).map(({ level, what, quoted, line }) => {
    const text = quoted === undefined ? what : `${what}: ${quote(quoted)}`;
    return { kind, level, text, ...(line === undefined ? {} : { line }) };
  });
  const [first, ...rest] = ordered.slice(MAX_LISTED);
  if (first === undefined) return listed;
  return [...listed, { kind, level: first.level, text: `and ${rest.length + 1} more` }];
}

/** Text of an author for a check: one line in quotes, with secrets masked. @param limit - Characters. */
export function quote(text: string, limit = 120): string {
  // Cut first, because the search takes time. The cut is wider than `limit`, so that no part of a secret is shown.
  return `"${oneLine(withoutKeys(text.slice(0, limit * 4)), limit)}"`;
}

// --- internal ---

/** Facts without a line come last. */
function lineOrLast({ line }: Fact): number {
  return line ?? Number.MAX_SAFE_INTEGER;
}
