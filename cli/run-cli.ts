import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Argument, Command, CommanderError } from 'commander';
import { describeError, isCodedError } from 'skill-registry/kernel';
import { packageRoot } from '../kernel/host.ts';
import { printable } from '../lib/text/index.ts';
import type { StartOptions } from './commands/start.ts';
import { addCommands } from './define/index.ts';
import { collect, EXIT, type ExitStatus, exitOf, printJson, type Terminal, widthOf } from './terminal.ts';

/**
 * Runs one `skill-registry` command.
 *
 * @param args - Without the name of the program.
 * @returns The exit status: 0 done, 1 a problem of severity error or an id that was not found, 2 wrong use. Never rejects.
 */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<ExitStatus> {
  let status: ExitStatus = EXIT.done;
  const program = createProgram(terminal, (result) => {
    status = result;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUse;
    return fail(error, args.includes('--json'), terminal);
  }
}

// --- internal ---

function termOf(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function createProgram(terminal: Terminal, done: (status: ExitStatus) => void): Command {
  const program = new Command('skill-registry')
    .description('Finds SKILL.md skills, shows what agents see of them, and runs the agent kernel they serve.')
    .version(versionOf())
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      getOutHelpWidth: () => widthOf(terminal) ?? 100,
      getErrHelpWidth: () => terminal.columns ?? 100,
    })
    // In a window of 40 columns descriptions still have room beside most options.
    .configureHelp({
      minWidthToWrap: 12,
      // Every command has options.
      subcommandTerm: (command) => [command.name(), ...command.registeredArguments.map((one) => termOf(one))].join(' '),
    })
    .exitOverride()
    .showHelpAfterError('(skill-registry --help lists the commands)')
    // Global options may be given before or after the command.
    .hook('preAction', (_all, command) => {
      for (let above = command.parent; above; above = above.parent) {
        for (const [name, value] of Object.entries(above.opts())) {
          if (command.getOptionValue(name) === undefined) command.setOptionValue(name, value);
        }
      }
      refuseEmpty(command);
    });
  addGlobalOptions(program);

  const command = (name: string, description: string, example: string, parent: Command = program): Command => {
    const isDefault = parent !== program && name === 'list';
    const made = addGlobalOptions(parent.command(name, { isDefault }))
      .description(description)
      .addHelpText('after', `\nExample:\n  ${example}`)
      .copyInheritedSettings(program);
    // Any word that names no subcommand arrives here.
    const unknown = () => `unknown command '${parent.name()} ${printable(made.args[0] ?? '')}'`;
    const outputError = (text: string, write: (text: string) => void): void => {
      const isUnknown = /^error: too many arguments /.test(text);
      write(isUnknown ? `error: ${unknown()}\n` : text);
      made.showHelpAfterError(isUnknown ? `(skill-registry ${parent.name()} --help lists its commands)` : itsOptions);
    };
    const path = parent === program ? made.name() : `${parent.name()} ${made.name()}`;
    const itsOptions = `(skill-registry ${path} --help shows its options)`;
    return isDefault ? made.configureOutput({ outputError }) : made.showHelpAfterError(itsOptions);
  };

  program.commandsGroup('Agents:');
  command('start', 'talk at this terminal to an agent that has the skills', 'skill-registry start --root .')
    .option('--enable <id>', 'also start an extension that is off by default, such as skill_mcp; repeatable', collect)
    .action(async (options: StartOptions) =>
      done(await (await import('./commands/start.ts')).start(options, terminal)),
    );
  addCommands(command, program, done, terminal);
  return program;
}

/** A variable that a script has not set gives an empty text. As a path it would stand for the working folder. */
function refuseEmpty(command: Command): void {
  const isEmpty = (value: unknown): boolean => [value].flat().includes('');
  const { args, registeredArguments: known, options } = command;
  const argument = known[Math.min(args.indexOf(''), known.length - 1)];
  if (argument) command.error(`error: argument '${argument.name()}' is empty`);
  const option = options.find((one) => isEmpty(command.getOptionValue(one.attributeName())));
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

function fail(error: unknown, json: boolean, terminal: Terminal): ExitStatus {
  const code = isCodedError(error) ? error.code : 'UNEXPECTED_FAILURE';
  const message = error instanceof Error ? error.message : String(error);
  if (json) printJson(terminal, { error: { code, message } });
  // Of a skill that was removed, or a folder, there is other advice in the message.
  const hint =
    isCodedError(error, 'SKILL_NOT_FOUND') && error.details.nearest !== undefined
      ? '\n(skill-registry list prints the ids)'
      : '';
  terminal.err(`skill-registry: ${printable(describeError(error))}${hint}\n`);
  return exitOf(code);
}

function versionOf(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
