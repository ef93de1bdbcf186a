import { CommanderError } from 'commander';
import { describeError, isCodedError } from 'skill-registry/kernel';
import { commandsOf } from '../extensions/skill_registry/core/command-line.ts';
import features from '../extensions/skill_registry/features.ts';
import {
  EXIT,
  type ExitStatus,
  exitOf,
  type Options,
  type Streams,
  type Terminal,
  terminalOf,
} from '../lib/command-line/index.ts';
import { commandTerminal } from './command-terminal.ts';
import { createProgram, type Run } from './create-program.ts';

/**
 * @param args - Without the name of the program.
 * @returns 0 done, 1 a problem of severity error or an id that was not found, 2 wrong use. Never rejects.
 */
export async function runCli(args: readonly string[], streams: Streams): Promise<ExitStatus> {
  let status: ExitStatus = EXIT.done;
  const ending: (() => Promise<void>)[] = [];
  try {
    const given = await commandsOf(features);
    const run: Run = async (action, words) => {
      const terminal = commandTerminal(terminalOf(streams, words.at(-2) as Options, ending), given);
      const result = await action(...([...words.slice(0, -1), terminal, words.at(-1)] as never[]));
      if (result !== undefined) status = result as ExitStatus;
    };
    try {
      await createProgram(streams, run, given).parseAsync(args, { from: 'user' });
    } finally {
      for (const close of ending) await close();
    }
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUse;
    return fail(error, terminalOf(streams, { json: args.includes('--json') }, []));
  }
}

// --- internal ---

const OWN_AGENT = '\n(one of your own: agents: { NAME: { skills: ["*"] } } in data/skill_registry/config.yaml)';

function fail(error: unknown, terminal: Terminal): ExitStatus {
  const code = isCodedError(error) ? error.code : 'UNEXPECTED_FAILURE';
  terminal.print({ error: { code, message: error instanceof Error ? error.message : String(error) } });
  // Messages about a folder or a removed skill contain other advice.
  const isUnknown = isCodedError(error, 'SKILL_NOT_FOUND') && error.details.nearest !== undefined;
  const hint = isUnknown ? '\n(skill-registry list prints the ids)' : code === 'AGENT_NOT_FOUND' ? OWN_AGENT : '';
  terminal.say(`skill-registry: ${describeError(error)}${hint}`);
  return exitOf(code);
}
