import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isCodedError, type Problem } from 'skill-registry/kernel';
import { readContained } from '../../../lib/files/index.ts';
import { showName } from '../../../lib/text/index.ts';
import type { ValidationProfile } from '../config/config.ts';
import { invalidArgument } from '../skill/errors.ts';
import { draftReason } from '../skill/gates.ts';
import { parseSkill } from '../skill/parse-skill.ts';
import { readRawFrontmatter } from '../skill/raw-frontmatter.ts';
import { isUsableId, unusableIdText } from '../skill/skill.ts';
import { referenceRefusals, specViolations, type Violation } from '../skill/spec-rules.ts';
import { didYouMeanField, strictVerdict } from '../skill/strict-rules.ts';
import { type AuthorMistake, authorMistakes } from './author-mistakes.ts';
import { type EncodingFault, findAnySkillMd, findSkillMd, isKind, readSkillMd } from './read-skill-md.ts';
import { hiddenInNames, textFindingsBelow } from './text-findings.ts';

export interface ValidateSkillOptions {
  /** Default: `spec`. */
  readonly profile?: ValidationProfile;
  /** Base of a relative path. Default: the working directory of the process. */
  readonly cwd?: string;
}

export interface SkillCheck {
  /** Empty: valid. */
  readonly errors: readonly string[];
  /** HIDDEN_CHARACTERS, KEY_OR_TOKEN, NOT_STANDARD; under `lenient` what the loader accepts. The skill works. */
  readonly warnings: readonly string[];
  readonly findings: readonly SkillFinding[];
  /** The SKILL.md or pack that was read; undefined without one. */
  readonly file?: string;
}

export interface SkillFinding {
  readonly severity: Problem['severity'];
  readonly message: string;
  /** 1-based; undefined when it is not about a line. */
  readonly line?: number;
  /** Present for warnings, for packs, and under `lenient`. */
  readonly code?: string;
  /** Replaces the code under `spec` and `strict`: profile and field, `agentskills/name`. Undefined without a field. */
  readonly rule?: string;
  /** Relative to the skill; undefined: SKILL.md. */
  readonly path?: string;
  /** Only for packs: absolute path of the file with the finding. */
  readonly file?: string;
}

/** Returns all faults, one line each; empty: valid. @throws INVALID_ARGUMENT for an unknown profile. */
export function validateSkill(path: string, options: ValidateSkillOptions = {}): readonly string[] {
  return checkSkill(path, options).errors;
}

/** As `validateSkill`, with warnings. */
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
  const inTexts = textFindings(directory);
  const read = readSkillMd(file);
  if ('unreadable' in read) return verdict([invalid(rules.unreadable(read.unreadable)), ...inTexts], file);
  const { refusal } = read.fault ?? {};
  if (refusal && profile !== 'lenient') return verdict([invalid(rules.unreadable(refusal)), ...inTexts], file);
  const skillId = skillIdOf(path, directory);
  const found = rules.check({ ...read, file, directory, name: skillId });
  const others = profile === 'lenient' ? [] : descriptionFindings(read.text, skillId, found);
  const misspelt = profile === 'strict' ? [] : misspeltFields(read.text);
  const mistakes = authorMistakes(read.text, realpathSync(directory)).map(asWarning);
  return verdict(
    [...found, ...misspelt, ...others, ...mistakes, ...draftFindings(read.text, skillId), ...inTexts],
    file,
  );
}

/** Of SKILL.md and its declared files, which must be regular files, not links. `directory` is a real path. */
export function strictViolations(
  text: string,
  directory: string,
  name: string,
): { readonly violations: readonly Violation[]; readonly declaresFiles: boolean } {
  const { violations, lineOf, declared } = strictVerdict(text, name);
  const absent = declared.flatMap(({ bucket, path }) => {
    const code = fileErrorCode(directory, `${bucket}/${path}`);
    if (code === undefined) return [];
    const reason = code === 'PATH_TRAVERSAL' ? `leads out of ${bucket}/` : `is no file in ${bucket}/`;
    const message = `invalid manifest: [${bucket}] '${path}' ${reason}`;
    return [{ message, line: lineOf(bucket), rule: `strict/${bucket}` }];
  });
  return { violations: [...violations, ...absent], declaresFiles: declared.length > 0 };
}

// --- internal ---

interface Subject {
  readonly text: string;
  readonly fault: EncodingFault | undefined;
  readonly file: string;
  readonly directory: string;
  readonly name: string;
}

interface Rules {
  readonly find: (directory: string) => string | undefined;
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
        ...specViolations(text, name).map((violation) => ({ severity: 'error' as const, ...violation })),
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
    findings.filter((finding) => finding.severity === severity).map(findingText);
  return { errors: of('error'), warnings: of('warning'), findings, ...(file === undefined ? {} : { file }) };
}

function asWarning(mistake: AuthorMistake): SkillFinding {
  return { severity: 'warning', ...mistake };
}

function invalid(message: string): SkillFinding {
  return { severity: 'error', message };
}

/** For `.` and `..` its real name. */
function skillIdOf(path: string, directory: string): string {
  return ['', '.', '..'].includes(basename(path)) ? basename(realpathSync(directory)) : basename(directory);
}

function textFindings(directory: string): readonly SkillFinding[] {
  const real = realpathSync(directory);
  // Hidden characters in the name of the skill and of the folders above.
  const above = hiddenInNames([real]).map(({ message }) => ({ path: '', code: 'HIDDEN_CHARACTERS', message }));
  return [...above, ...textFindingsBelow(real)].map(({ path, ...found }) => ({
    severity: 'warning',
    ...found,
    ...(path === '' || path.toLowerCase() === 'skill.md' ? {} : { path }),
  }));
}

function checkStrictly({ text, directory, name }: Subject): readonly SkillFinding[] {
  const { violations } = strictViolations(text, realpathSync(directory), name);
  return violations.map((violation) => ({ severity: 'error', ...violation }));
}

function checkAsLoaded({ text, fault, file, name }: Subject): readonly SkillFinding[] {
  const code = 'ENCODING_INVALID';
  if (fault?.isText === false) return [{ severity: 'error', code, message: fault.message }];
  if (!isUsableId(name))
    return [{ severity: 'error', code: 'SKILL_ID_INVALID', message: unusableIdText('directory', name) }];
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
    ...[
      ...specViolations(text, name).filter((violation) => !isReported(violation, problems)),
      ...referenceRefusals(text),
    ].map(notStandard),
    ...(fault ? [{ severity: 'warning', code, message: fault.message } as const] : []),
    ...(fileName === 'SKILL.md' ? [] : [{ severity: 'warning', code: 'SKILL_FILE_CASE', message: misnamed } as const]),
  ];
}

/** The standard accepts `---` and `3` as a description, which tells an agent nothing. */
function descriptionFindings(text: string, skillId: string, found: readonly SkillFinding[]): readonly SkillFinding[] {
  const { header, problems } = parseSkill(text, 'SKILL.md', skillId);
  const lacks = problems.find(({ code }) => code === 'DESCRIPTION_MISSING' || (!header && code === 'SKILL_EMPTY'));
  if (!lacks || found.some(({ severity }) => severity === 'error')) return [];
  const { code, message, line } = lacks;
  return [{ severity: 'warning', code, message, ...(line === undefined ? {} : { line }) }];
}

/** Fields that are nearly a known one. The profile `strict` reports them itself. */
function misspeltFields(text: string): readonly SkillFinding[] {
  const source = readRawFrontmatter(text);
  if ('failure' in source) return [];
  return [...source.fields.keys()].flatMap((field) => {
    const hint = didYouMeanField(field);
    return hint === ''
      ? []
      : [notStandard({ message: `No field is called "${field}".${hint}`, line: source.lineOf(field) })];
  });
}

function draftFindings(text: string, skillId: string): readonly SkillFinding[] {
  const reason = draftReason(parseSkill(text, 'SKILL.md', skillId).header?.fillsLeft);
  if (reason === undefined) return [];
  return [{ severity: 'warning', code: 'SKILL_HIDDEN', message: `Models do not see this skill: ${reason}.` }];
}

/** A rule of the standard, or of its reference validator, that the loader does not enforce. */
function notStandard({ message, line }: Violation): SkillFinding {
  return { severity: 'warning', code: 'NOT_STANDARD', message, line };
}

function isReported({ message, line }: Violation, problems: readonly Problem[]): boolean {
  if (message.startsWith('Unexpected fields')) return false;
  const isFraming = /^(?:Invalid YAML|SKILL\.md )/.test(message);
  return problems.some((problem) => problem.line === line || (isFraming && problem.code.startsWith('FRONTMATTER_')));
}

function findingText({ code, line, message, path }: SkillFinding): string {
  if (code === undefined) return message;
  const position = [...(path ? [showName(path)] : []), ...(line ? [`line ${line}`] : [])].join(', ');
  return `${code}${position ? ` (${position})` : ''}: ${message}`;
}

function fileErrorCode(directory: string, path: string): string | undefined {
  try {
    // Opens and checks the file; with this limit nothing is read.
    readContained(directory, path, 0);
    return undefined;
  } catch (error) {
    if (isCodedError(error, 'RESOURCE_TOO_LARGE')) return undefined;
    return isCodedError(error) ? error.code : 'RESOURCE_NOT_FOUND';
  }
}
