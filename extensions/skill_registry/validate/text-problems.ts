import { isCodedError, type Problem } from 'skill-registry/kernel';
import { readContained } from '../../../lib/files/index.ts';
import { shorten } from '../../../lib/text/index.ts';
import type { ValidationProfile } from '../config/config.ts';
import { splitFrontmatter } from '../skill/frontmatter.ts';
import { parseSkill } from '../skill/parse-skill.ts';
import { specViolations, type Violation } from '../skill/spec-rules.ts';
import { strictVerdict } from '../skill/strict-rules.ts';

/** What is wrong with the text of a SKILL.md under the rules of its source. Files it declares are not looked for. */
export function textProblems(text: string, skillId: string, validation: ValidationProfile): readonly Problem[] {
  const { header, problems } = parseSkill(text, 'SKILL.md', skillId);
  const broken = violationsOf(text, skillId, validation).map(
    ({ message, line }): Problem => ({
      code: validation === 'spec' ? 'SPEC_VIOLATION' : 'STRICT_VIOLATION',
      severity: 'error',
      file: 'SKILL.md',
      line,
      message,
    }),
  );
  return header || problems.some(({ severity }) => severity === 'error') ? [...broken, ...problems] : broken;
}

/** Why a text must not take the place of another one: errors that were not there before, one line each. */
export function newErrors(
  before: string | null,
  after: string,
  skillId: string,
  validation: ValidationProfile,
): readonly string[] {
  const old = before === null ? [] : textProblems(before, skillId, validation).map(keyOf);
  return textProblems(after, skillId, validation)
    .filter((problem) => problem.severity === 'error' && !old.includes(keyOf(problem)))
    .map(({ code, line, message }) => `${code}${line ? ` (line ${line})` : ''}: ${message}`);
}

/**
 * What a SKILL.md that nobody reviews must not lack: name and description that are its own. Each with what to mend; nothing of
 * what was so before.
 */
export function newLacks(before: string | null, after: string, skillId: string): readonly string[] {
  const old = before === null ? [] : lacksOf(before, skillId);
  return lacksOf(after, skillId).filter((lack) => !old.includes(lack));
}

/**
 * What `strict` holds against a SKILL.md and the files it declares: each must be a regular file of the skill, reached through
 * no link.
 *
 * @param directory - Real.
 */
export function strictViolations(
  text: string,
  directory: string,
  name: string,
): { readonly violations: readonly Violation[]; readonly declaresFiles: boolean } {
  const { violations, lineOf, declared } = strictVerdict(text, name);
  const absent = declared.flatMap(({ bucket, path }) => {
    const code = whyNot(directory, `${bucket}/${path}`);
    if (code === undefined) return [];
    const reason = code === 'PATH_TRAVERSAL' ? `leads out of ${bucket}/` : `is no file in ${bucket}/`;
    return [{ message: `invalid manifest: [${bucket}] '${path}' ${reason}`, line: lineOf(bucket) }];
  });
  return { violations: [...violations, ...absent], declaresFiles: declared.length > 0 };
}

// --- internal ---

function lacksOf(text: string, skillId: string): readonly string[] {
  const fields = `name: ${skillId}, and description: what it does and when to use it`;
  if (!splitFrontmatter(text).yaml?.trim()) {
    return [`FRONTMATTER_MISSING: Begin with a line ---, then ${fields}, then a line ---.`];
  }
  const { header, problems } = parseSkill(text, 'SKILL.md', skillId);
  const has = (code: string): boolean => problems.some((problem) => problem.code === code);
  const name = JSON.stringify(shorten(header?.name ?? '', 80));
  return [
    ...(has('DESCRIPTION_MISSING') || has('SKILL_EMPTY')
      ? ['DESCRIPTION_MISSING: Write description: what it does and when to use it.']
      : []),
    ...(has('NAME_MISMATCH')
      ? [`NAME_MISMATCH: The name ${name} is not that of this skill. Write name: ${skillId}`]
      : []),
  ];
}

function violationsOf(text: string, skillId: string, validation: ValidationProfile) {
  if (validation === 'spec') return specViolations(text, skillId);
  return validation === 'strict' ? strictVerdict(text, skillId).violations : [];
}

function keyOf({ code, message }: Problem): string {
  return `${code}\0${message}`;
}

function whyNot(directory: string, path: string): string | undefined {
  try {
    // It is opened and looked at; nothing is read beyond the limit.
    readContained(directory, path, 0);
    return undefined;
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_TOO_LARGE')) return undefined;
    return isCodedError(error) ? error.code : 'RESOURCE_NOT_FOUND';
  }
}
