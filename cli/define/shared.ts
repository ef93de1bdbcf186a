import type { Command } from 'commander';
import type { ExitStatus } from '../terminal.ts';

/** Makes a subcommand of `parent`, with the global options and an example in its help. Default: of the program. */
export type Make = (name: string, example: string, parent?: Command) => Command;

/**
 * The action of a command: calls a function of the module that `load` gives with the arguments, the options, the terminal and the
 * command. The module is loaded when the command is called.
 */
export type Run = <Name extends string>(
  name: Name,
  load: () => Promise<Readonly<Record<NoInfer<Name>, Action>>>,
) => (...given: unknown[]) => Promise<void>;

/** Without a status the command is done. */
type Action = (...given: never[]) => Promise<ExitStatus> | Promise<void> | ExitStatus;

export const ID = 'id or qualified id (<source>:<path>)';

export const REASON = ['--reason <text>', 'why; recorded with the decision'] as const;
export const BY = ['--by <name>', 'who decides (default: whoever is logged in)'] as const;
export const YES_OF_CHANGE = ['--yes', 'show the difference and do not ask'] as const;

/** For options that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
