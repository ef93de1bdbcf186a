import { realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, relative, resolve } from 'node:path';
import { checkPack, checkSkill, readProperties, type SkillCheck, toPrompt } from 'skill-registry';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import { bodySizeFinding, skillsBelow } from '../../extensions/skill_registry/host.ts';
import { isInside } from '../../lib/files/index.ts';
import { printable, showName } from '../../lib/text/index.ts';
import { type GitChanges, gitChangesIn } from '../changed-skills.ts';
import { findRoot, isTrusted, ownerConfig } from '../find-root.ts';
import { formatFindings } from '../finding-formats.ts';
import { openRegistry } from '../open-registry.ts';
import { EXIT, type ExitStatus, exitOf, invalidArgument, type Options, type Terminal } from '../terminal.ts';

/** Valid paths go to standard output, the rest to standard error; with `--format` all goes to standard output. */
export async function validate(given: readonly string[], options: Options, terminal: Terminal): Promise<ExitStatus> {
  const { cwd } = terminal;
  const typed = given.length === 0 && options.changed ? ['.'] : given;
  if (typed.length === 0) throw invalidArgument(NO_PATH);
  const existing = skillPaths(typed, terminal);
  if (typeof existing === 'string') return failure('INVALID_ARGUMENT', existing, terminal);
  const changes = options.changed ? await gitChangesIn(cwd) : undefined;
  const found = await Promise.all(existing.map((path) => meantBy(path, changes, terminal)));
  const isSearched = found.some((one) => one.isSearched);
  const seen = new Set<string>();
  // Two given folders may contain the same skill.
  const isNew = (path: string): boolean => seen.size < seen.add(resolve(cwd, path)).size;
  const paths = found.flatMap((one) => one.paths).filter((path) => !isSearched || isNew(path));
  const checks = await checkAll(paths, options, terminal);
  const totals = totalsOf(checks);
  const isLong = terminal.terminal && checks.length > MANY;
  const unsearched = found.flatMap(({ problems }) => problems);
  if (options.format) {
    terminal.out(formatFindings([...checks, { path: '.', findings: unsearched }], options.format, cwd));
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
  const { checked, valid, invalid, with_warnings } = totals;
  if (!options.json && (changes || isSearched))
    terminal.say(
      `${checked}${changes ? ' changed' : ''} skill(s): ${valid} valid${isLong ? ' (a terminal does not name those without warnings)' : ''}, ${invalid} not valid; ${with_warnings} with warnings`,
    );
  const isWrong = unsearched.some(({ severity }) => severity === 'error');
  const isStrictlyWrong = options.strict && (with_warnings > 0 || unsearched.length > 0);
  return isWrong || invalid > 0 || isStrictlyWrong ? EXIT.problem : EXIT.done;
}

/** Prints the fields of the standard as JSON, non-ASCII characters escaped. */
export function properties(typed: string, _options: Options, terminal: Terminal): Promise<ExitStatus> {
  return useSkillPaths([typed], terminal, ([path = typed]) => {
    terminal.out(`${asciiJson(readProperties(path, { cwd: terminal.cwd }))}\n`);
  });
}

/** Prints the `<available_skills>` block, or nothing when one skill fails. */
export function prompt(typed: readonly string[], options: Options, terminal: Terminal): Promise<ExitStatus> {
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

// --- internal ---

const MANY = 60;

const NO_PATH = 'Give the path of a skill, or of a folder with skills below; with --changed it may be left out.';

/** The skills below a folder. Without any it returns the path itself, so that the result names it. */
async function meantBy(path: string, changes: GitChanges | undefined, { cwd }: Terminal) {
  const folder = resolve(cwd, path);
  if (!statsOf(folder)?.isDirectory()) {
    return { paths: !changes || changes.has(folder) ? [path] : [], isSearched: false, problems: [] };
  }
  const { folders, ...search } = await skillsBelow(folder);
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

function totalsOf(checks: readonly CheckedPath[]) {
  const invalid = checks.filter(({ errors }) => errors.length > 0).length;
  const with_warnings = checks.filter(({ warnings }) => warnings.length > 0).length;
  return { checked: checks.length, valid: checks.length - invalid, invalid, with_warnings };
}

/** @throws SKILL_HELD for a held skill, because the block goes into the system prompt of an agent. */
async function assertNotHeld(paths: readonly string[], options: Options, terminal: Terminal): Promise<void> {
  const folders = paths.map((path) => resolve(terminal.cwd, path));
  const { registry } = await openRegistry({ ...options, skills: [...new Set(folders)] }, terminal);
  for (const { id, qualifiedId } of registry.snapshot().byQualifiedId.values()) {
    const { heldBecause } = await registry.admin.trustOf(qualifiedId);
    if (heldBecause === null) continue;
    const message = `No agent is given "${id}", because it is held: ${heldBecause}. Leave it out, or allow it in its root: skill-registry trust show ${id}.`;
    throw new CodedError('SKILL_HELD', message, { skill_id: id });
  }
}

interface CheckedPath extends SkillCheck {
  readonly path: string;
}

async function checkAll(
  paths: readonly string[],
  options: Options,
  terminal: Terminal,
): Promise<readonly CheckedPath[]> {
  const rules = { profile: options.profile ?? 'spec', cwd: terminal.cwd };
  const root = findRoot(options, terminal);
  const { values } = ownerConfig(root, isTrusted(root, options, terminal));
  const checks: CheckedPath[] = [];
  for (const path of paths) {
    const isPack = /\.json$/i.test(path) && statsOf(resolve(terminal.cwd, path))?.isFile();
    const ofPack = isPack ? await checkPack(path, rules) : undefined;
    const check = ofPack ?? checkSkill(path, rules);
    const tooLong = ofPack ? undefined : await bodySizeFinding(check.file, root, values);
    const warnings = tooLong ? [...check.warnings, `${tooLong.code}: ${tooLong.message}`] : check.warnings;
    checks.push({ ...check, path, warnings, findings: tooLong ? [...check.findings, tooLong] : check.findings });
  }
  return checks;
}

/** Returns an error text when a path does not exist. */
function skillPaths(typed: readonly string[], { cwd }: Terminal): readonly string[] | string {
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
  terminal: Terminal,
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

function failure(code: string, message: string, terminal: Terminal): ExitStatus {
  terminal.print({ error: { code, message } });
  terminal.say(`Error: ${message}`);
  return exitOf(code);
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function report({ path, errors, warnings }: CheckedPath, { out, say }: Terminal): void {
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
