import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isCodedError, type Problem } from 'skill-registry/kernel';
import { readContained } from '../../../lib/files/index.ts';
import { shorten } from '../../../lib/text/index.ts';
import type { ValidationProfile } from '../config/config.ts';
import { invalidArgument } from '../skill/errors.ts';
import { splitFrontmatter } from '../skill/frontmatter.ts';
import { draftReason } from '../skill/gates.ts';
import { parseSkill } from '../skill/parse-skill.ts';
import { referenceRefusals, specViolations, type Violation } from '../skill/spec-rules.ts';
import { strictVerdict } from '../skill/strict-rules.ts';
import { hiddenBelow } from './hidden-text.ts';
import { type EncodingFault, findAnySkillMd, findSkillMd, isKind, readSkillMd } from './read-skill-md.ts';

export interface ValidateSkillOptions {
  /** Default: `spec`. */
  readonly profile?: ValidationProfile;
  /** Where a relative path starts. Default: the working directory of the process. */
  readonly cwd?: string;
}

export interface SkillCheck {
  /** Empty: valid. */
  readonly errors: readonly string[];
  /** What can be read and used all the same: HIDDEN_CHARACTERS, NOT_STANDARD, and under `lenient` what the loader puts up with. */
  readonly warnings: readonly string[];
  /** The same one by one, with their lines. */
  readonly findings: readonly SkillFinding[];
  /** The SKILL.md that was read, or the pack; absent when there is none. */
  readonly file?: string;
}

/** One thing that is wrong with a skill. */
export interface SkillFinding {
  readonly severity: Problem['severity'];
  readonly message: string;
  /** 1-based; absent when it is about no line of SKILL.md. */
  readonly line?: number;
  /** Of what the loader puts up with, of warnings, and of packs. */
  readonly code?: string;
  /** The file of the skill that it is about; absent: SKILL.md. */
  readonly path?: string;
  /** Absolute: the file of a pack that it is about. */
  readonly file?: string;
}

/**
 * Why the skill in a directory is not valid, one line for each reason; empty when it is.
 *
 * @throws INVALID_ARGUMENT for a profile that does not exist. What is wrong with the skill or the path is returned.
 */
export function validateSkill(path: string, options: ValidateSkillOptions = {}): readonly string[] {
  return checkSkill(path, options).errors;
}

/** As `validateSkill`, with the warnings of the profile `lenient`. */
export function checkSkill(
  path: string,
  { profile = 'spec', cwd = process.cwd() }: ValidateSkillOptions = {},
): SkillCheck {
  const rules = PROFILES.get(profile);
  if (!rules) throw invalidArgument(`No validation profile "${profile}": expected ${[...PROFILES.keys()].join(', ')}.`);
  const directory = resolve(cwd, path);
  if (!isKind(directory, 'anything')) return verdict([invalid(`Path does not exist: ${path}`)]);
  if (!isKind(directory, 'directory')) return verdict([invalid(`Not a directory: ${path}`)]);
  const file = rules.find(directory);
  if (file === undefined) return verdict([invalid(rules.missing)]);
  const hidden = hiddenFindings(directory);
  const read = readSkillMd(file);
  if ('unreadable' in read) return verdict([invalid(rules.unreadable(read.unreadable)), ...hidden], file);
  const { refusal } = read.fault ?? {};
  if (refusal && profile !== 'lenient') return verdict([invalid(rules.unreadable(refusal)), ...hidden], file);
  const skillId = nameOf(path, directory);
  const found = rules.check({ ...read, file, directory, name: skillId });
  return verdict([...found, ...draftFindings(read.text, skillId), ...hidden], file);
}

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

interface Subject {
  readonly text: string;
  readonly fault: EncodingFault | undefined;
  readonly file: string;
  readonly directory: string;
  /** The directory's. */
  readonly name: string;
}

interface Rules {
  readonly find: (directory: string) => string | undefined;
  /** What is said when there is no file. */
  readonly missing: string;
  readonly unreadable: (reason: string) => string;
  readonly check: (subject: Subject) => readonly SkillFinding[];
}

const PROFILES: ReadonlyMap<string, Rules> = new Map([
  [
    'spec',
    {
      find: findSkillMd,
      missing: 'Missing required file: SKILL.md',
      unreadable: (reason) => reason,
      check: ({ text, name }) => [
        ...specViolations(text, name).map((one) => ({ severity: 'error' as const, ...one })),
        ...referenceRefusals(text).map(notStandard),
      ],
    },
  ],
  [
    'strict',
    {
      find: findSkillMd,
      missing: 'SKILL.md file does not exist',
      unreadable: (reason) => `cannot read file: ${reason}`,
      check: checkStrictly,
    },
  ],
  [
    'lenient',
    {
      find: findAnySkillMd,
      missing: 'Missing required file: SKILL.md',
      unreadable: (reason) => `SKILL_FILE_UNREADABLE: ${reason}`,
      check: checkAsLoaded,
    },
  ],
] satisfies [ValidationProfile, Rules][]);

function verdict(findings: readonly SkillFinding[], file?: string): SkillCheck {
  const of = (severity: Problem['severity']): readonly string[] =>
    findings.filter((finding) => finding.severity === severity).map(told);
  return { errors: of('error'), warnings: of('warning'), findings, ...(file === undefined ? {} : { file }) };
}

function invalid(message: string): SkillFinding {
  return { severity: 'error', message };
}

/** As it was named; `.` and `..` have no name of their own. */
function nameOf(path: string, directory: string): string {
  return ['', '.', '..'].includes(basename(path)) ? basename(realpathSync(directory)) : basename(directory);
}

function hiddenFindings(directory: string): readonly SkillFinding[] {
  return hiddenBelow(realpathSync(directory)).map(({ path, ...found }) => ({
    severity: 'warning',
    code: 'HIDDEN_CHARACTERS',
    ...found,
    ...(path.toLowerCase() === 'skill.md' ? {} : { path }),
  }));
}

function checkStrictly({ text, directory, name }: Subject): readonly SkillFinding[] {
  const { violations } = strictViolations(text, realpathSync(directory), name);
  return violations.map((one) => ({ severity: 'error', ...one }));
}

function checkAsLoaded({ text, fault, file, name }: Subject): readonly SkillFinding[] {
  const code = 'ENCODING_INVALID';
  if (fault?.isText === false) return [{ severity: 'error', code, message: fault.message }];
  const { problems } = parseSkill(text, file, name);
  const fileName = basename(file);
  const misnamed = `the file is called ${fileName}; rename it to SKILL.md`;
  return [
    ...problems.map(({ severity, message, line, code }) => ({
      severity,
      message,
      code,
      ...(line === undefined ? {} : { line }),
    })),
    ...[...specViolations(text, name).filter((one) => !isTold(one, problems)), ...referenceRefusals(text)].map(
      notStandard,
    ),
    ...(fault ? [{ severity: 'warning', code, message: fault.message } as const] : []),
    ...(fileName === 'SKILL.md' ? [] : [{ severity: 'warning', code: 'SKILL_FILE_CASE', message: misnamed } as const]),
  ];
}

function draftFindings(text: string, skillId: string): readonly SkillFinding[] {
  const reason = draftReason(parseSkill(text, 'SKILL.md', skillId).header?.fillsLeft);
  if (reason === undefined) return [];
  return [{ severity: 'warning', code: 'SKILL_HIDDEN', message: `Models do not see this skill: ${reason}.` }];
}

/** What the standard or its reference validator refuses, and the loader reads. */
function notStandard({ message, line }: Violation): SkillFinding {
  return { severity: 'warning', code: 'NOT_STANDARD', message, line };
}

/** Whether the loader has said it in its own words. */
function isTold({ message, line }: Violation, problems: readonly Problem[]): boolean {
  if (message.startsWith('Unexpected fields')) return false;
  const isFraming = /^(?:Invalid YAML|SKILL\.md )/.test(message);
  return problems.some((one) => one.line === line || (isFraming && one.code.startsWith('FRONTMATTER_')));
}

function told({ code, line, message, path }: SkillFinding): string {
  if (code === undefined) return message;
  const place = [...(path ? [path] : []), ...(line ? [`line ${line}`] : [])].join(', ');
  return `${code}${place ? ` (${place})` : ''}: ${message}`;
}

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
