/** `validate`, `properties` and `prompt`: commands on paths of skills, like those of the reference library. */
import { type Stats, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { checkPack, checkSkill, readProperties, type SkillCheck, toPrompt } from 'skill-registry';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import type { ValidationProfile } from '../../extensions/skill_registry/host.ts';
import { printable, showName } from '../../lib/text/index.ts';
import { type FindingFormat, formatFindings } from '../finding-formats.ts';
import { openRegistry } from '../open-registry.ts';
import { EXIT, type ExitStatus, exitOf, type GlobalOptions, printJson, type Terminal } from '../terminal.ts';

/**
 * `skill-registry validate <path...>`, for skills and prompt packs. Valid paths are printed on standard output, errors and warnings
 * on standard error. With `--json`: `{ results: [{ path, valid, errors: [string], warnings: [string] }] }`. With `--format`:
 * everything on standard output.
 */
export async function validate(
  typed: readonly string[],
  options: GlobalOptions & { readonly profile: ValidationProfile; readonly format?: FindingFormat },
  terminal: Terminal,
): Promise<ExitStatus> {
  return withSkillPaths(typed, options, terminal, async (paths) => {
    const rules = { profile: options.profile, cwd: terminal.cwd };
    const checks: CheckedPath[] = [];
    for (const path of paths)
      checks.push({ path, ...(isPack(path, terminal) ? await checkPack(path, rules) : checkSkill(path, rules)) });
    if (options.format) terminal.out(formatFindings(checks, options.format, terminal.cwd));
    else if (options.json) {
      const results = checks.map(({ path, errors, warnings }) => ({
        path,
        valid: errors.length === 0,
        errors,
        warnings,
      }));
      printJson(terminal, { results });
    } else for (const check of checks) report(check, terminal);
    return checks.some(({ errors }) => errors.length > 0) ? EXIT.problem : EXIT.done;
  });
}

/** `skill-registry properties <path>`: the fields of the standard as JSON, with escapes for characters beyond ASCII. */
export async function properties(typed: string, options: GlobalOptions, terminal: Terminal): Promise<ExitStatus> {
  return withSkillPaths([typed], options, terminal, ([path = typed]) => {
    try {
      terminal.out(`${asciiJson(readProperties(path, { cwd: terminal.cwd }))}\n`);
      return EXIT.done;
    } catch (error) {
      if (!isCodedError(error)) throw error;
      return failure(error.code, error.message, options, terminal);
    }
  });
}

/** `skill-registry prompt <path...>`: the `<available_skills>` block; with `--json`: `{ prompt }`. All skills or none. */
export async function prompt(
  typed: readonly string[],
  options: GlobalOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  return withSkillPaths(typed, options, terminal, async (paths) => {
    try {
      await assertNotHeld(paths, options, terminal);
      const block = toPrompt(paths, { cwd: terminal.cwd });
      if (options.json) printJson(terminal, { prompt: block });
      else terminal.out(`${terminal.terminal ? printable(block) : block}\n`);
      for (const path of paths) noteDraft(path, terminal);
      return EXIT.done;
    } catch (error) {
      if (!isCodedError(error)) throw error;
      return failure(error.code, error.message, options, terminal);
    }
  });
}

// --- internal ---

/** @throws SKILL_HELD: the block is for the system prompt of an agent. */
async function assertNotHeld(paths: readonly string[], options: GlobalOptions, terminal: Terminal): Promise<void> {
  const folders = paths.map((path) => resolve(terminal.cwd, path));
  const { registry } = await openRegistry({ ...options, skills: [...new Set(folders)] }, terminal);
  try {
    for (const { id, qualifiedId } of registry.snapshot().byQualifiedId.values()) {
      const { heldBecause } = await registry.admin.trustOf(qualifiedId);
      if (heldBecause === null) continue;
      const message = `No agent is given "${id}", because it is held: ${heldBecause}. Leave it out, or allow it in its root: skill-registry trust show ${id}.`;
      throw new CodedError('SKILL_HELD', message, { skill_id: id });
    }
  } finally {
    await registry.close();
  }
}

/** The result of checking one path. */
interface CheckedPath extends SkillCheck {
  /** As it was typed. */
  readonly path: string;
}

/**
 * Calls `use` with the skill folders; a path of a SKILL.md becomes its folder. When a path does not exist, `use` is not called and
 * the exit status is that of INVALID_ARGUMENT.
 */
async function withSkillPaths(
  typed: readonly string[],
  options: GlobalOptions,
  terminal: Terminal,
  use: (paths: readonly string[]) => ExitStatus | Promise<ExitStatus>,
): Promise<ExitStatus> {
  const found = typed.map((path) => ({ path, stats: statsOf(resolve(terminal.cwd, path)) }));
  const missing = found.find(({ stats }) => stats === undefined);
  if (missing) {
    const message = `Invalid value for 'SKILL_PATH': Path '${missing.path}' does not exist.`;
    return failure('INVALID_ARGUMENT', message, options, terminal);
  }
  return use(found.map(({ path, stats }) => (stats?.isFile() && isSkillMd(path) ? dirname(path) : path)));
}

/** Says why a skill is not in the block. */
function noteDraft(path: string, terminal: Terminal): void {
  const { findings } = checkSkill(path, { profile: 'lenient', cwd: terminal.cwd });
  const hidden = findings.find(({ code }) => code === 'SKILL_HIDDEN');
  if (hidden) terminal.err(`${printable(path)} is left out. ${hidden.message}\n`);
}

/** Prints `Error: <message>` for people, and with `--json` also JSON. */
function failure(code: string, message: string, { json }: GlobalOptions, terminal: Terminal): ExitStatus {
  if (json) printJson(terminal, { error: { code, message } });
  terminal.err(`Error: ${printable(message)}\n`);
  return exitOf(code);
}

function isPack(path: string, { cwd }: Terminal): boolean {
  return /\.json$/i.test(path) && statsOf(resolve(cwd, path))?.isFile() === true;
}

function isSkillMd(path: string): boolean {
  return basename(path).toLowerCase() === 'skill.md';
}

/** Undefined when the path does not exist or cannot be read. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function report({ path, errors, warnings }: CheckedPath, terminal: Terminal): void {
  const list = (lines: readonly string[]): string => lines.map((line) => `  - ${printable(line)}\n`).join('');
  const shown = showName(path);
  if (errors.length > 0) terminal.err(`Validation failed for ${shown}:\n${list(errors)}`);
  else terminal.out(`Valid ${/\.json$/i.test(path) ? 'pack' : 'skill'}: ${shown}\n`);
  if (warnings.length > 0) terminal.err(`Warnings for ${shown}:\n${list(warnings)}`);
}

function asciiJson(value: unknown): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, 2).replace(/[\x7f-\uffff]/g, escaped);
}
