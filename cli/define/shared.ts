import type { Command } from 'commander';
import type { ExitStatus } from '../terminal.ts';

/** Adds a command with the global options and an example in its help. @param parent - Default: the program. */
export type Make = (name: string, example: string, parent?: Command) => Command;

/** When the command runs, loads the module and calls the named function: arguments, options, terminal, command. */
export type Run = <Name extends string>(
  name: Name,
  load: () => Promise<Readonly<Record<NoInfer<Name>, Action>>>,
) => (...given: unknown[]) => Promise<void>;

type Action = (...given: never[]) => Promise<ExitStatus> | Promise<void> | ExitStatus;

export const ID = 'id or qualified id (<source>:<path>)';

export const REASON = ['--reason <text>', 'why; recorded with the decision'] as const;
export const BY = ['--by <name>', 'who decides (default: whoever is logged in)'] as const;
export const YES_OF_CHANGE = ['--yes', 'show the difference and do not ask'] as const;

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
