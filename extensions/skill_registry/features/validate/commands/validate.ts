import { execFile } from 'node:child_process';
import { existsSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import { packageVersion } from '../../../../../kernel/host.ts';
import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { EXIT, type ExitStatus, exitOf, invalidArgument, type Options } from '../../../../../lib/command-line/index.ts';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { isInside } from '../../../../../lib/files/index.ts';
import { type DescribedRule, type FindingFormat, formatFindings } from '../../../../../lib/findings/index.ts';
import { loadTokenCounter, plural, printable, showName } from '../../../../../lib/text/index.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import type { SkillRegistryConfigInput } from '../../../core/config/config.ts';
import { ownerFile } from '../../../core/config/owner-file.ts';
import { configOf } from '../../../core/config/read-config.ts';
import { bodyOf } from '../../../core/skill/frontmatter.ts';
import type { ValidationProfile } from '../../../core/skill/profile.ts';
import { findSkillFiles } from '../../../core/sources/walk/find-skill-files.ts';
import { readProperties, toPrompt } from '../properties-and-prompt.ts';
import { readSkillMd } from '../read-skill-md.ts';
import { checkSkill, type SkillCheck, type SkillFinding, type ValidateSkillOptions } from '../validate-skill.ts';

interface ValidateOptions extends Options {
  readonly changed?: boolean;
  readonly format?: FindingFormat;
  readonly profile?: ValidationProfile;
  readonly strict?: boolean;
}

/** Valid paths go to standard output, the rest to standard error; with `--format` all goes to standard output. */
export async function validate(
  given: readonly string[],
  options: ValidateOptions,
  terminal: CommandTerminal,
): Promise<ExitStatus> {
  const { cwd } = terminal;
  const existing = skillPaths(given.length === 0 ? ['.'] : given, terminal);
  if (typeof existing === 'string') return failure('INVALID_ARGUMENT', existing, terminal);
  const changes = options.changed ? await gitChangesIn(cwd) : undefined;
  const found = await Promise.all(existing.map((path) => meantBy(path, changes, terminal)));
  const isSearched = found.some((one) => one.isSearched);
  const seen = new Set<string>();
  // Two given folders may contain the same skill.
  const isNew = (path: string): boolean => seen.size < seen.add(resolve(cwd, path)).size;
  const paths = found.flatMap((one) => one.paths).filter((path) => !isSearched || isNew(path));
  const checks = await terminal.during('Checking skills', checkAll(paths, options, terminal));
  const invalid = checks.filter(({ errors }) => errors.length > 0).length;
  const with_warnings = checks.filter(({ warnings }) => warnings.length > 0).length;
  const totals = { checked: checks.length, valid: checks.length - invalid, invalid, with_warnings };
  const isLong = terminal.terminal && checks.length > MANY;
  const unsearched = found.flatMap(({ problems }) => problems);
  if (options.format) {
    terminal.out(inFormat([...checks, { path: '.', findings: unsearched }], options.format, cwd));
  } else if (options.json) {
    const results = checks.map(({ path, errors, warnings }) => ({
      path,
      valid: errors.length === 0,
      errors,
      warnings,
    }));
    terminal.print({ results, totals, problems: unsearched });
  } else {
    // A terminal shows only errors and warnings, because many valid paths would hide them.
    const shown = isLong ? checks.filter(({ errors, warnings }) => errors.length + warnings.length > 0) : checks;
    for (const check of shown) report(check, terminal);
    for (const { severity, code, file, message } of unsearched)
      terminal.say(`${severity}: ${showName(file)}: ${code}: ${message}`);
  }
  if (!options.json && (changes || isSearched))
    terminal.say(
      `${plural(checks.length, changes ? 'changed skill' : 'skill')}: ${totals.valid} valid${isLong ? ' (a terminal does not name those without warnings)' : ''}, ${invalid} not valid; ${with_warnings} with warnings`,
    );
  const isWrong = unsearched.some(({ severity }) => severity === 'error');
  const isStrictlyWrong = options.strict && (with_warnings > 0 || unsearched.length > 0);
  return isWrong || invalid > 0 || isStrictlyWrong ? EXIT.problem : EXIT.done;
}

/** Prints the fields of the standard as JSON, non-ASCII characters escaped. */
export function properties(typed: string, _options: Options, terminal: CommandTerminal): Promise<ExitStatus> {
  return useSkillPaths([typed], terminal, ([path = typed]) => {
    terminal.out(`${asciiJson(readProperties(path, { cwd: terminal.cwd }))}\n`);
  });
}

/** Prints the `<available_skills>` block, or nothing when one skill fails. */
export function prompt(typed: readonly string[], options: Options, terminal: CommandTerminal): Promise<ExitStatus> {
  return useSkillPaths(typed, terminal, async (paths) => {
    await assertNotHeld(paths, options, terminal);
    const block = toPrompt(paths, { cwd: terminal.cwd });
    terminal.print({ prompt: block }, () => (terminal.terminal ? printable(block) : block));
    for (const path of paths) {
      const { findings } = checkSkill(path, { profile: 'lenient', cwd: terminal.cwd });
      const hidden = findings.find(({ code }) => code === 'SKILL_HIDDEN');
      if (hidden) terminal.say(`${path} is left out. ${hidden.message}`);
    }
  });
}

declare module '../../../core/command-line.ts' {
  interface FeatureCommands {
    /** How `validate` checks files of another kind. */
    readonly checkFile?: {
      isMeant(path: string): boolean;
      check(path: string, options: ValidateSkillOptions): Promise<SkillCheck>;
    };
  }
}

// --- internal ---

const MANY = 60;

function inFormat(checks: Parameters<typeof formatFindings>[0], format: FindingFormat, cwd: string): string {
  const named = checks.map(({ findings, ...of }) => ({
    ...of,
    findings: findings.map((one) => (one.code === undefined ? { rule: 'agentskills/skill', ...one } : one)),
  }));
  const rules = Object.entries(STANDARD).map(([field, rule]) => ({ id: `agentskills/${field}`, ...rule }));
  const helpUri = (rule: string) =>
    rule.startsWith('agentskills/') ? 'https://agentskills.io/specification' : undefined;
  return formatFindings(named, format, { cwd, version: packageVersion(), rules, helpUri });
}

interface GitChanges {
  has(folder: string): boolean;
  /** Absolute paths of folders that still exist and whose SKILL.md was deleted. */
  readonly lost: readonly string[];
}

/**
 * Compares with the last commit: staged and unstaged changes, and new files that git does not ignore.
 * @throws INVALID_ARGUMENT without a repository or without git.
 */
async function gitChangesIn(folder: string): Promise<GitChanges> {
  const top = (await git(folder, ['rev-parse', '--show-toplevel'])).replace(/\n$/, '');
  const status = await git(folder, ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames']);
  const changed = status.split('\0').flatMap((entry) => (entry === '' ? [] : join(top, entry.slice(3))));
  const without = changed.filter((path) => basename(path).toLowerCase() === 'skill.md' && !existsSync(path));
  return {
    has(one) {
      const real = realpathSync(one);
      return changed.some((path) => isInside(path, real));
    },
    lost: without.map(dirname).filter((one) => existsSync(one)),
  };
}

const MAX_STATUS = 256 * 1024 * 1024;

async function git(folder: string, args: readonly string[]): Promise<string> {
  try {
    // The repository could name a program as its file system monitor, and git would run it.
    const all = ['-c', 'core.fsmonitor=false', '--no-optional-locks', ...args];
    return (await promisify(execFile)('git', all, { cwd: folder, maxBuffer: MAX_STATUS })).stdout;
  } catch (error) {
    const { code, stderr = '' } = error as { readonly code?: unknown; readonly stderr?: string };
    const reason = code === 'ENOENT' ? 'there is no git' : (stderr.trim().split('\n')[0] ?? '');
    throw invalidArgument(
      `--changed asks git what has changed in ${folder}, which failed: ${reason}. Go into a git repository, or leave --changed out.`,
    );
  }
}

/** The skills below a folder. Without any it returns the path itself, so that the result names it. */
async function meantBy(path: string, changes: GitChanges | undefined, { cwd }: CommandTerminal) {
  const folder = resolve(cwd, path);
  if (!statsOf(folder)?.isDirectory()) {
    return { paths: !changes || changes.has(folder) ? [path] : [], isSearched: false, problems: [] };
  }
  const search = await findSkillFiles({ root: folder, maxDepth: 64, allowOutside: false });
  const folders = search.files.map(({ dir }) => dir);
  // `checkSkill` reports the letter case of the file name.
  const problems = search.problems.filter(({ code }) => code !== 'SKILL_FILE_CASE');
  const isSkill = folders.length === 1 && folders[0] === folder;
  const lost = changes?.lost.filter((one) => isInside(one, realpathSync(folder))) ?? [];
  if (isSkill || (folders.length === 0 && !changes && problems.length === 0)) {
    const isMeant = !changes || changes.has(folder) || lost.length > 0;
    return { paths: isMeant ? [path] : [], isSearched: false, problems: [] };
  }
  const shown = (one: string): string => (isAbsolute(path) ? one : relative(cwd, one)) || '.';
  const below = changes ? [...folders.filter((one) => changes.has(one)), ...lost] : folders;
  return { paths: below.map(shown), isSearched: true, problems };
}

/** @throws SKILL_HELD for a held skill, because the block goes into the system prompt of an agent. */
async function assertNotHeld(paths: readonly string[], options: Options, terminal: CommandTerminal): Promise<void> {
  const folders = paths.map((path) => resolve(terminal.cwd, path));
  const { registry } = await terminal.openRegistry({ ...options, skills: [...new Set(folders)] });
  for (const { id, qualifiedId } of registry.snapshot().byQualifiedId.values()) {
    const reasons = await Promise.all(terminal.features.map((one) => one.heldBecause?.(registry, qualifiedId)));
    const heldBecause = reasons.find(Boolean);
    if (!heldBecause) continue;
    const message = `No agent is given "${id}", because it is held: ${heldBecause}. Leave it out, or allow it in its root: skill-registry approvals show ${id}.`;
    throw new CodedError('SKILL_HELD', message, { skill_id: id });
  }
}

interface CheckedPath extends SkillCheck {
  readonly path: string;
}

async function checkAll(
  paths: readonly string[],
  options: ValidateOptions,
  terminal: CommandTerminal,
): Promise<readonly CheckedPath[]> {
  const rules = { profile: options.profile ?? 'spec', cwd: terminal.cwd };
  const root = terminal.findRoot(options);
  const values = terminal.configOf(root, options);
  const checkers = terminal.features.flatMap(({ checkFile }) => checkFile ?? []);
  const checks: CheckedPath[] = [];
  for (const path of paths) {
    await takeBreak(checks.length, paths.length);
    const isFile = statsOf(resolve(terminal.cwd, path))?.isFile();
    const checkFile = isFile ? checkers.find(({ isMeant }) => isMeant(path))?.check : undefined;
    const check = (await checkFile?.(path, rules)) ?? checkSkill(path, rules);
    const tooLong = checkFile ? undefined : await bodySizeFinding(check.file, root, values);
    const warnings = tooLong ? [...check.warnings, `${tooLong.code}: ${tooLong.message}`] : check.warnings;
    checks.push({ ...check, path, warnings, findings: tooLong ? [...check.findings, tooLong] : check.findings });
  }
  return checks;
}

/** Returns an error text when a path does not exist. */
function skillPaths(typed: readonly string[], { cwd }: CommandTerminal): readonly string[] | string {
  const paths: string[] = [];
  for (const path of typed) {
    const stats = statsOf(resolve(cwd, path));
    if (!stats) return `Invalid value for 'SKILL_PATH': Path '${path}' does not exist.`;
    paths.push(stats.isFile() && basename(path).toLowerCase() === 'skill.md' ? dirname(path) : path);
  }
  return paths;
}

async function useSkillPaths(
  typed: readonly string[],
  terminal: CommandTerminal,
  use: (paths: readonly string[]) => Promise<void> | void,
): Promise<ExitStatus> {
  const paths = skillPaths(typed, terminal);
  if (typeof paths === 'string') return failure('INVALID_ARGUMENT', paths, terminal);
  try {
    await use(paths);
    return EXIT.done;
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return failure(error.code, error.message, terminal);
  }
}

function failure(code: string, message: string, terminal: CommandTerminal): ExitStatus {
  terminal.print({ error: { code, message } });
  terminal.say(`Error: ${message}`);
  return exitOf(code);
}

function statsOf(path: string): Stats | undefined {
  return withFallback(() => statSync(path));
}

function report({ path, errors, warnings }: CheckedPath, { out, say }: CommandTerminal): void {
  const list = (title: string, lines: readonly string[]): void => {
    if (lines.length > 0) say([title, ...lines.map((line) => `  - ${line}`)].join('\n'));
  };
  const shown = showName(path);
  list(`Validation failed for ${shown}:`, errors);
  if (errors.length === 0) out(`Valid ${/\.json$/i.test(path) ? 'pack' : 'skill'}: ${shown}\n`);
  list(`Warnings for ${shown}:`, warnings);
}

function asciiJson(value: unknown): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, 2).replace(/[\x7f-\uffff]/g, escaped);
}

/** @param values - Of the config. */
async function bodySizeFinding(
  file: string | undefined,
  root: string,
  values: SkillRegistryConfigInput,
): Promise<SkillFinding | undefined> {
  const limit = configOf([]).read(values, ownerFile(root)).config.limits.skill_tokens;
  const read = file === undefined ? { text: '' } : readSkillMd(file);
  const body = 'text' in read ? bodyOf(read.text) : '';
  // A token has at least one byte, and the tokenizer takes long to load.
  if (Buffer.byteLength(body) <= limit) return undefined;
  const tokens = (await loadTokenCounter())(body);
  if (tokens <= limit) return undefined;
  const message = `The body has ${tokens} tokens, more than limits.skill_tokens (${limit}). Move detail into references/.`;
  return { severity: 'warning', code: 'SKILL_TOO_LONG', message };
}

const STANDARD: Readonly<Record<string, Pick<DescribedRule, 'message' | 'mend'>>> = {
  skill: {
    message: 'A skill is a folder with a SKILL.md that can be read.',
    mend: 'Correct the path, or write a SKILL.md as UTF-8 text in the folder.',
  },
  frontmatter: {
    message: 'SKILL.md begins with YAML between two lines of ---, with the fields of the standard and no others.',
    mend: 'Correct the YAML; move what is no field of the standard into metadata.',
  },
  name: {
    message: 'The name has 1 to 64 lowercase letters, digits and single hyphens, and is that of the folder.',
    mend: 'Write name, and call the folder so.',
  },
  description: {
    message: 'The description has 1 to 1,024 characters.',
    mend: 'Say what the skill does and when to use it; move detail into the text.',
  },
  compatibility: {
    message: 'The compatibility, if there is one, is a text of at most 500 characters.',
    mend: 'Write one text, or take the field out.',
  },
  'allowed-tools': {
    message: 'The allowed tools, if they are given, are one text with blanks between them.',
    mend: 'Write them in one line: Read Bash(git add *).',
  },
};
