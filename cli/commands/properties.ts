import { readProperties } from 'skill-registry';
import { isCodedError } from 'skill-registry/kernel';
import { printFailure, withSkillPaths } from '../skill-paths.ts';
import { EXIT, type ExitStatus, type GlobalOptions, type Terminal } from '../terminal.ts';

/** `skill-registry properties <path>`: the standard's fields as JSON, in ASCII. */
export async function properties(typed: string, options: GlobalOptions, terminal: Terminal): Promise<ExitStatus> {
  return withSkillPaths([typed], options, terminal, ([path = typed]) => {
    try {
      terminal.out(`${asciiJson(readProperties(path, { cwd: terminal.cwd }))}\n`);
      return EXIT.done;
    } catch (error) {
      if (!isCodedError(error)) throw error;
      printFailure(error.code, error.message, options, terminal);
      return EXIT.problem;
    }
  });
}

// --- internal ---

function asciiJson(value: unknown): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, 2).replace(/[\x7f-\uffff]/g, escaped);
}
