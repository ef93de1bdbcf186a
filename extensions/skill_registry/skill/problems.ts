import type { Problem } from 'skill-registry/kernel';

/** Codes of everything that can be wrong with one SKILL.md. */
export type SkillProblemCode =
  | 'DESCRIPTION_MISSING'
  | 'DESCRIPTION_TOO_LONG'
  | 'ENCODING_INVALID'
  | 'FIELD_INVALID'
  | 'FRONTMATTER_INVALID'
  | 'FRONTMATTER_MISSING'
  | 'FRONTMATTER_NOT_AT_START'
  | 'FRONTMATTER_REPAIRED'
  | 'FRONTMATTER_TOO_LARGE'
  | 'FRONTMATTER_UNCLOSED'
  | 'NAME_INVALID'
  | 'NAME_MISMATCH'
  | 'NAME_MISSING'
  | 'SKILL_EMPTY';

/** Makes a problem of one file; `message` says what was expected, what arrived and what to do. */
export type ProblemSink = (
  code: SkillProblemCode,
  severity: Problem['severity'],
  message: string,
  line?: number,
  details?: Readonly<Record<string, unknown>>,
) => void;

/** Collects the problems of `file`. */
export function problemSink(file: string): { readonly problems: readonly Problem[]; readonly add: ProblemSink } {
  const problems: Problem[] = [];
  return {
    problems,
    add: (code, severity, message, line, details) => {
      problems.push({ code, severity, file, message, ...(line ? { line } : {}), ...(details ? { details } : {}) });
    },
  };
}
