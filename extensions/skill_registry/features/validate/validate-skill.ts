import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { showName } from '../../../../lib/text/index.ts';
import { invalidArgument } from '../../core/skill/errors.ts';
import { draftReason } from '../../core/skill/gates.ts';
import { type ParsedSkill, parseSkill } from '../../core/skill/parse-skill.ts';
import type { ValidationProfile, Violation } from '../../core/skill/profile.ts';
import { isUsableId, unusableIdText } from '../../core/skill/skill.ts';
import type { EncodingFault } from '../../core/sources/walk/encoding-fault.ts';
import { authorMistakes } from './author-mistakes.ts';
import { readRawFrontmatter } from './raw-frontmatter.ts';
import { findAnySkillMd, findSkillMd, isKind, readSkillMd } from './read-skill-md.ts';
import { referenceRefusals, specViolations } from './spec-rules.ts';
import { didYouMeanField, strictViolations } from './strict-rules.ts';
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
  if (!Object.hasOwn(PROFILES, profile)) {
    throw invalidArgument(`No validation profile "${profile}": expected ${Object.keys(PROFILES).join(', ')}.`);
  }
  const rules = PROFILES[profile];
  const directory = resolve(cwd, path);
  if (!isKind(directory, 'anything')) return verdict([invalid(`Path does not exist: ${path}`)]);
  if (!isKind(directory, 'directory')) return verdict([invalid(`Not a directory: ${path}`)]);
  const file = rules.find(directory);
  if (file === undefined) return verdict([invalid(rules.missing)]);
  const inTexts = textFindings(directory);
  const read = readSkillMd(file);
  const refused = 'unreadable' in read ? read.unreadable : profile === 'lenient' ? undefined : read.fault?.refusal;
  if ('unreadable' in read || refused !== undefined) {
    return verdict([invalid(`${rules.unreadable}${refused}`), ...inTexts], file);
  }
  const { text } = read;
  const name = skillIdOf(path, directory);
  const parsed = parseSkill(text, 'SKILL.md', name);
  const found = rules.check({ ...read, ...parsed, file, directory, name });
  return verdict(
    [
      ...found,
      ...(profile === 'strict' ? [] : misspeltFields(text)),
      ...(profile === 'lenient' ? [] : descriptionFindings(parsed, found)),
      ...Array.from(authorMistakes(text, parsed.header, realpathSync(directory)), warning),
      ...draftFindings(parsed),
      ...inTexts,
    ],
    file,
  );
}

// --- internal ---

interface Subject extends ParsedSkill {
  readonly text: string;
  readonly fault: EncodingFault | undefined;
  readonly file: string;
  readonly directory: string;
  readonly name: string;
}

interface Rules {
  readonly find: (directory: string) => string | undefined;
  readonly missing: string;
  /** Before the reason. */
  readonly unreadable: string;
  readonly check: (subject: Subject) => readonly SkillFinding[];
}

const PROFILES: Readonly<Record<ValidationProfile, Rules>> = {
  spec: {
    find: findSkillMd,
    missing: 'Missing required file: SKILL.md',
    unreadable: '',
    check: ({ text, name }) => [
      ...specViolations(text, name).map((violation) => ({ severity: 'error' as const, ...violation })),
      ...referenceRefusals(text).map(notStandard),
    ],
  },
  strict: {
    find: findSkillMd,
    missing: 'SKILL.md file does not exist',
    unreadable: 'cannot read file: ',
    check: ({ text, directory, name }) =>
      strictViolations(text, name, realpathSync(directory)).violations.map((violation) => ({
        severity: 'error',
        ...violation,
      })),
  },
  lenient: {
    find: findAnySkillMd,
    missing: 'Missing required file: SKILL.md',
    unreadable: 'SKILL_FILE_UNREADABLE: ',
    check: checkAsLoaded,
  },
};

function verdict(findings: readonly SkillFinding[], file?: string): SkillCheck {
  const of = (severity: Problem['severity']): readonly string[] =>
    findings.filter((finding) => finding.severity === severity).map(findingText);
  return { errors: of('error'), warnings: of('warning'), findings, ...(file === undefined ? {} : { file }) };
}

function warning(finding: Omit<SkillFinding, 'severity'>): SkillFinding {
  return { severity: 'warning', ...finding };
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
  const above = hiddenInNames([real]).map((finding) => ({ ...finding, path: '' }));
  return [...above, ...textFindingsBelow(real)].map(({ path, ...found }) =>
    warning({ ...found, ...(path === '' || path.toLowerCase() === 'skill.md' ? {} : { path }) }),
  );
}

function checkAsLoaded({ text, fault, file, name, problems }: Subject): readonly SkillFinding[] {
  const code = 'ENCODING_INVALID';
  if (fault?.isText === false) return [{ severity: 'error', code, message: fault.message }];
  if (!isUsableId(name))
    return [{ severity: 'error', code: 'SKILL_ID_INVALID', message: unusableIdText('directory', name) }];
  const fileName = basename(file);
  const misnamed = `the file is called ${fileName}; rename it to SKILL.md`;
  return [
    ...problems.map(findingOf),
    ...[
      ...specViolations(text, name).filter((violation) => !isReported(violation, problems)),
      ...referenceRefusals(text),
    ].map(notStandard),
    ...(fault ? [warning({ code, message: fault.message })] : []),
    ...(fileName === 'SKILL.md' ? [] : [warning({ code: 'SKILL_FILE_CASE', message: misnamed })]),
  ];
}

function findingOf({ severity, code, message, line }: Problem): SkillFinding {
  return { severity, message, code, ...(line === undefined ? {} : { line }) };
}

/** The standard accepts `---` and `3` as a description, which tells an agent nothing. */
function descriptionFindings(
  { header, problems }: ParsedSkill,
  found: readonly SkillFinding[],
): readonly SkillFinding[] {
  if (found.some(({ severity }) => severity === 'error')) return [];
  const lacks = problems.find(({ code }) => code === 'DESCRIPTION_MISSING' || (!header && code === 'SKILL_EMPTY'));
  return lacks ? [{ ...findingOf(lacks), severity: 'warning' }] : [];
}

/** Fields that are nearly a known one. The profile `strict` reports them itself. */
function misspeltFields(text: string): readonly SkillFinding[] {
  const source = readRawFrontmatter(text);
  if ('failure' in source) return [];
  return [...source.fields.keys()].flatMap((field) => {
    const hint = didYouMeanField(field);
    const message = `No field is called "${field}".${hint}`;
    return hint === '' ? [] : [notStandard({ message, line: source.lineOf(field) })];
  });
}

function draftFindings({ header }: ParsedSkill): readonly SkillFinding[] {
  const reason = draftReason(header?.fillsLeft);
  if (reason === undefined) return [];
  return [warning({ code: 'SKILL_HIDDEN', message: `Models do not see this skill: ${reason}.` })];
}

/** A rule of the standard, or of its reference validator, that the loader does not enforce. */
function notStandard({ message, line }: Violation): SkillFinding {
  return warning({ code: 'NOT_STANDARD', message, line });
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
