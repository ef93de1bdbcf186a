import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError, Help } from 'commander';
import { describeError, isCodedError } from 'skill-registry/kernel';
import { packageRoot } from '../kernel/host.ts';
import { printable } from '../lib/text/index.ts';
import { addCommands } from './define/index.ts';
import { collect, type Make } from './define/shared.ts';
import { EXIT, type ExitStatus, exitOf, type Options, type Streams, type Terminal, terminalOf } from './terminal.ts';

/**
 * @param args - Without the name of the program.
 * @returns 0 done, 1 a problem of severity error or an id that was not found, 2 wrong use. Never rejects.
 */
export async function runCli(args: readonly string[], streams: Streams): Promise<ExitStatus> {
  let status: ExitStatus = EXIT.done;
  const ending: (() => Promise<void>)[] = [];
  const run: Run = async (action, given) => {
    const command = given.at(-1);
    const terminal = terminalOf(streams, given.at(-2) as Options, ending);
    const result = await action(...([...given.slice(0, -1), terminal, command] as never[]));
    if (result !== undefined) status = result as ExitStatus;
  };
  try {
    try {
      await createProgram(streams, run).parseAsync(args, { from: 'user' });
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

type Run = (action: (...given: never[]) => unknown, given: readonly unknown[]) => Promise<void>;

function createProgram(streams: Streams, run: Run): Command {
  const program = new Command('skill-registry')
    .description('Finds SKILL.md skills, shows what agents see of them, and runs the agent kernel they serve.')
    .version((JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version)
    .configureOutput({
      writeOut: streams.out,
      writeErr: streams.err,
      getOutHelpWidth: () => (streams.terminal && streams.columns) || 100,
      getErrHelpWidth: () => streams.columns ?? 100,
    })
    // Leaves room for descriptions in a window of 40 columns.
    .configureHelp({
      minWidthToWrap: 12,
      // Leaves out [options], because every command has options.
      subcommandTerm: (command) => new Help().subcommandTerm(command).replace(' [options]', ''),
    })
    .exitOverride()
    .showHelpAfterError('(skill-registry --help lists the commands)')
    // Global options work before and after the command.
    .hook('preAction', (_all, command) => {
      for (let above = command.parent; above; above = above.parent) {
        for (const [name, value] of Object.entries(above.opts())) {
          if (command.getOptionValue(name) === undefined) command.setOptionValue(name, value);
        }
      }
      refuseEmpty(command);
    });
  addGlobalOptions(program);
  const make: Make = (name, example, action, load, parent = program) => {
    const isDefault = parent !== program && name === 'list';
    const path = parent === program ? `skill-registry ${name}` : `skill-registry ${parent.name()} ${name}`;
    const made = addGlobalOptions(parent.command(name, { isDefault }))
      .addHelpText('after', `\nExample:\n  ${example.replace('$', path)}`)
      .copyInheritedSettings(program);
    if (action && load) made.action(async (...given: unknown[]) => run((await load())[action], given));
    const itsOptions = `(${path} --help shows its options)`;
    if (!isDefault) return made.showHelpAfterError(itsOptions);
    // The default subcommand also receives unknown words.
    return made.configureOutput({
      outputError(text, write) {
        const isUnknown = /^error: too many arguments /.test(text);
        write(isUnknown ? `error: unknown command '${parent.name()} ${printable(made.args[0] ?? '')}'\n` : text);
        made.showHelpAfterError(isUnknown ? `(skill-registry ${parent.name()} --help lists its commands)` : itsOptions);
      },
    });
  };
  addCommands(make, program);
  return program;
}

/** An unset variable of a script gives an empty text, which as a path means the working folder. */
function refuseEmpty(command: Command): void {
  const { args, registeredArguments: known, options } = command;
  const argument = known[Math.min(args.indexOf(''), known.length - 1)];
  if (argument) command.error(`error: argument '${argument.name()}' is empty`);
  const option = options.find((one) => [command.getOptionValue(one.attributeName())].flat().includes(''));
  if (option) command.error(`error: option '${option.flags}' is empty`);
}

function addGlobalOptions(command: Command): Command {
  return command
    .option(
      '--root <dir>',
      'folder with extensions/, skills/ and data/ (default: the nearest one upwards, else this folder)',
    )
    .option('--skills <dir>', 'take skills from here instead of the configured sources; repeatable', collect)
    .option(
      '--trust',
      'for this command: let code and settings of the root take effect, although nobody has approved it',
    )
    .option('--json', 'print JSON instead of text');
}

function fail(error: unknown, terminal: Terminal): ExitStatus {
  const code = isCodedError(error) ? error.code : 'UNEXPECTED_FAILURE';
  terminal.print({ error: { code, message: error instanceof Error ? error.message : String(error) } });
  // Messages about a folder or a removed skill contain other advice.
  const isUnknown = isCodedError(error, 'SKILL_NOT_FOUND') && error.details.nearest !== undefined;
  const hint = isUnknown ? '\n(skill-registry list prints the ids)' : '';
  terminal.say(`skill-registry: ${describeError(error)}${hint}`);
  return exitOf(code);
}
