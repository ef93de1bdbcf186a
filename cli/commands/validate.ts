import { checkSkill, type SkillCheck, type ValidationProfile } from 'skill-registry';
import { printable } from 'skill-registry/kernel';
import { withSkillPaths } from '../skill-paths.ts';
import { EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal } from '../terminal.ts';

/**
 * `skill-registry validate <path...>`: good news on standard output, reasons on standard error. With `--json`:
 * `{ results: [{ path, valid, errors: [string], warnings: [string] }] }`.
 */
export async function validate(
  typed: readonly string[],
  options: GlobalOptions & { readonly profile: ValidationProfile },
  terminal: Terminal,
): Promise<ExitStatus> {
  return withSkillPaths(typed, options, terminal, (paths) => {
    const checks = paths.map((path) => ({
      path,
      ...checkSkill(path, { profile: options.profile, cwd: terminal.cwd }),
    }));
    if (options.json) {
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

// --- internal ---

function report({ path, errors, warnings }: SkillCheck & { readonly path: string }, terminal: Terminal): void {
  const list = (lines: readonly string[]): string => lines.map((line) => `  - ${printable(line)}\n`).join('');
  const shown = printable(path);
  if (errors.length > 0) terminal.err(`Validation failed for ${shown}:\n${list(errors)}`);
  else terminal.out(`Valid skill: ${shown}\n`);
  if (warnings.length > 0) terminal.err(`Warnings for ${shown}:\n${list(warnings)}`);
}
