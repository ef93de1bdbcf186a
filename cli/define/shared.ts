import { type Command, InvalidArgumentError } from 'commander';
import type { ExitStatus } from '../terminal.ts';

/**
 * Adds a command with the global options and an example in its help, where `$` stands for the whole command.
 * @param action - Name of the function that the loaded module has for it: arguments, options, terminal, command.
 * @param parent - Default: the program.
 */
export type Make = <Name extends string>(
  name: string,
  example: string,
  action?: Name,
  load?: () => Promise<Readonly<Record<NoInfer<Name>, Action>>>,
  parent?: Command,
) => Command;

type Action = (...given: never[]) => Promise<ExitStatus> | Promise<void> | ExitStatus;

export const ID = 'id or qualified id (<source>:<path>)';

export const REASON = ['--reason <text>', 'why; recorded with the decision'] as const;
export const BY = ['--by <name>', 'who decides (default: whoever is logged in)'] as const;
export const YES_OF_CHANGE = ['--yes', 'show the difference and do not ask'] as const;

export function withReason(command: Command): Command {
  return command.option(...REASON).option(...BY);
}

/** Reads a whole number. */
export function from(least: number, most: number, message: string): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(message);
  };
}

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
