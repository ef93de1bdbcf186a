import { toPrompt } from 'skill-registry';
import { isCodedError } from 'skill-registry/kernel';
import { printable } from '../../lib/text/index.ts';
import { printFailure, withSkillPaths } from '../skill-paths.ts';
import { EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal } from '../terminal.ts';

/** `skill-registry prompt <path...>`: the `<available_skills>` block; with `--json`: `{ prompt }`. All skills or none. */
export async function prompt(
  typed: readonly string[],
  options: GlobalOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  return withSkillPaths(typed, options, terminal, (paths) => {
    try {
      const block = toPrompt(paths, { cwd: terminal.cwd });
      if (options.json) printJson(terminal, { prompt: block });
      else terminal.out(`${terminal.terminal ? printable(block) : block}\n`);
      return EXIT.done;
    } catch (error) {
      if (!isCodedError(error)) throw error;
      printFailure(error.code, error.message, options, terminal);
      return EXIT.problem;
    }
  });
}
