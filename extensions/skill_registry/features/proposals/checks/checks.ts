import type { Problem } from 'skill-registry/kernel';
import { oneLine, withoutKeys } from '../../../../../lib/text/index.ts';
import type { FindingLevel } from '../../../core/skill/guard.ts';
import { compareLevels } from '../../guard/inspect/rule-set.ts';

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
  /** Default: `info`. */
  readonly level?: FindingLevel;
  readonly what: string;
  /** The author's words: escaped, shortened and without secrets when shown. */
  readonly quoted?: string;
  readonly line?: number | undefined;
  /** Facts of one kind with equal keys are the same. Default: `what` and `quoted`. */
  readonly key?: string;
}

/** Most important first, then by line. Those after `MAX_LISTED` are only counted. */
export function listChecks(kind: Check['kind'], facts: readonly Fact[]): readonly Check[] {
  const ordered = facts
    .map((fact) => ({ level: 'info' as const, ...fact }))
    .sort((left, right) => compareLevels(left.level, right.level) || (left.line ?? LAST) - (right.line ?? LAST));
  const listed = ordered.slice(0, MAX_LISTED).map(({ level, what, quoted, line }) => {
    const text = quoted === undefined ? what : `${what}: ${quote(quoted)}`;
    return { kind, level, text, ...(line === undefined ? {} : { line }) };
  });
  const [first, ...rest] = ordered.slice(MAX_LISTED);
  return first ? [...listed, { kind, level: first.level, text: `and ${rest.length + 1} more` }] : listed;
}

/** Items with a key that `others` has fewer times. */
export function notIn<T>(items: readonly T[], others: readonly T[], keyOf: (item: T) => string): readonly T[] {
  const left = new Map<string, number>();
  for (const key of others.map(keyOf)) left.set(key, (left.get(key) ?? 0) + 1);
  return items.filter((item) => {
    const count = left.get(keyOf(item)) ?? 0;
    left.set(keyOf(item), count - 1);
    return count <= 0;
  });
}

/** An author's text in quotes: one line, at most `limit` characters, secrets masked. */
export function quote(text: string, limit = 120): string {
  // Cut first, because the search takes time. The cut is wider than `limit`, so that no part of a secret is shown.
  return `"${oneLine(withoutKeys(text.slice(0, limit * 4)), limit)}"`;
}

// --- internal ---

const MAX_LISTED = 20;
const LAST = Number.MAX_SAFE_INTEGER;
