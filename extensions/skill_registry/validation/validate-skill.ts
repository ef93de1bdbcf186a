import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import type { ValidationProfile } from '../config.ts';
import { invalidArgument } from '../errors.ts';
import { parseSkill } from '../skill/parse-skill.ts';
import { specErrors } from '../skill/spec-rules.ts';
import { strictVerdict } from '../skill/strict-rules.ts';
import { declaredFileErrors } from './declared-files.ts';
import { findAnySkillMd, findSkillMd, isKind } from './find-skill-md.ts';
import { NOT_UTF8, readSkillMd } from './read-skill-md.ts';

export interface ValidateSkillOptions {
  /** Default: `spec`. */
  readonly profile?: ValidationProfile;
  /** Where a relative path starts. Default: the working directory of the process. */
  readonly cwd?: string;
}

export interface SkillCheck {
  /** Empty: valid. */
  readonly errors: readonly string[];
  /** What the loader puts up with; only of the profile `lenient`. */
  readonly warnings: readonly string[];
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
  if (!isKind(directory, 'anything')) return invalid(`Path does not exist: ${path}`);
  if (!isKind(directory, 'directory')) return invalid(`Not a directory: ${path}`);
  const file = rules.find(directory);
  if (file === undefined) return invalid(rules.missing);
  const read = readSkillMd(file);
  if ('unreadable' in read) return invalid(rules.unreadable(read.unreadable));
  if (read.odd && profile !== 'lenient') return invalid(rules.unreadable(NOT_UTF8));
  return rules.check({ ...read, file, directory, name: nameOf(path, directory) });
}

// --- internal ---

interface Subject {
  readonly text: string;
  readonly odd: boolean;
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
  readonly check: (subject: Subject) => SkillCheck;
}

const PROFILES: ReadonlyMap<string, Rules> = new Map([
  [
    'spec',
    {
      find: findSkillMd,
      missing: 'Missing required file: SKILL.md',
      unreadable: (reason) => reason,
      check: ({ text, name }) => ({ errors: specErrors(text, name), warnings: [] }),
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

function invalid(error: string): SkillCheck {
  return { errors: [error], warnings: [] };
}

/** As it was named; `.` and `..` have no name of their own. */
function nameOf(path: string, directory: string): string {
  return ['', '.', '..'].includes(basename(path)) ? basename(realpathSync(directory)) : basename(directory);
}

function checkStrictly({ text, directory, name }: Subject): SkillCheck {
  const { errors, declared } = strictVerdict(text, name);
  return { errors: [...errors, ...declaredFileErrors(realpathSync(directory), declared)], warnings: [] };
}

function checkAsLoaded({ text, odd, file, name }: Subject): SkillCheck {
  const { problems } = parseSkill(text, file, name);
  const lines = (severity: Problem['severity']): string[] =>
    problems.filter((problem) => problem.severity === severity).map(lineOf);
  const fileName = basename(file);
  return {
    errors: lines('error'),
    warnings: [
      ...lines('warning'),
      ...(odd ? [`ENCODING_INVALID: ${NOT_UTF8}`] : []),
      ...(fileName === 'SKILL.md' ? [] : [`SKILL_FILE_CASE: the file is called ${fileName}; rename it to SKILL.md`]),
    ],
  };
}

function lineOf({ code, line, message }: Problem): string {
  return `${code}${line ? ` (line ${line})` : ''}: ${message}`;
}
