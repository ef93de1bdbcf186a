import { checkSkill, type ValidationProfile } from 'skill-registry';
import { printable } from '../../lib/text/index.ts';
import { type CheckedPath, type FindingFormat, formatFindings } from '../finding-formats.ts';
import { withSkillPaths } from '../skill-paths.ts';
import { EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal } from '../terminal.ts';

/**
 * `skill-registry validate <path...>`: good news on standard output, reasons on standard error. With `--json`:
 * `{ results: [{ path, valid, errors: [string], warnings: [string] }] }`; with `--format`, everything on standard output.
 */
export async function validate(
  typed: readonly string[],
  options: GlobalOptions & { readonly profile: ValidationProfile; readonly format?: FindingFormat },
  terminal: Terminal,
): Promise<ExitStatus> {
  return withSkillPaths(typed, options, terminal, (paths) => {
    const checks = paths.map((path) => ({
      path,
      ...checkSkill(path, { profile: options.profile, cwd: terminal.cwd }),
    }));
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

// --- internal ---

function report({ path, errors, warnings }: CheckedPath, terminal: Terminal): void {
  const list = (lines: readonly string[]): string => lines.map((line) => `  - ${printable(line)}\n`).join('');
  const shown = printable(path);
  if (errors.length > 0) terminal.err(`Validation failed for ${shown}:\n${list(errors)}`);
  else terminal.out(`Valid skill: ${shown}\n`);
  if (warnings.length > 0) terminal.err(`Warnings for ${shown}:\n${list(warnings)}`);
}
