import type { Problem } from 'skill-registry/kernel';
import { oneLine, withoutKeys } from '../../../lib/text/index.ts';
import type { FindingLevel } from './types.ts';

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
  /** One line; control and invisible characters are shown as U+XXXX. */
  readonly text: string;
  /** 1-based, in the new text. */
  readonly line?: number;
}

export interface CheckInput {
  readonly skillId: string;
  readonly path: string;
  readonly isSkillFile: boolean;
  /** null: the file or skill is new. */
  readonly before: string | null;
  /** null: the file is removed. */
  readonly after: string | null;
  readonly files: readonly string[];
  /** The problems of a text under the profile of its source. Called for SKILL.md only. */
  readonly problemsOf: (text: string) => readonly Problem[];
}

export interface Fact {
  /** Facts of one kind with equal keys are the same. */
  readonly key: string;
  readonly level: Check['level'];
  readonly what: string;
  /** The author's words: escaped, shortened and without secrets when shown. */
  readonly quoted?: string;
  readonly line?: number;
}

/** Most important first. */
export const LEVELS: readonly FindingLevel[] = ['block', 'warn', 'info'];

export const MAX_LISTED = 20;

/** Most important first, then by line. Those after `MAX_LISTED` are only counted. */
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

/** An author's text in quotes: one line, at most `limit` characters, secrets masked. */
export function quote(text: string, limit = 120): string {
  // Cut first, because the search takes time. The cut is wider than `limit`, so that no part of a secret is shown.
  return `"${oneLine(withoutKeys(text.slice(0, limit * 4)), limit)}"`;
}

// --- internal ---

function lineOrLast({ line }: Fact): number {
  return line ?? Number.MAX_SAFE_INTEGER;
}
