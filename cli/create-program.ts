import { Command, Help, Option } from 'commander';
import {
  type AddedOptions,
  type FeatureCommands,
  GROUPS,
  type Make,
  type Place,
} from '../extensions/skill_registry/core/command-line.ts';
import { packageVersion } from '../kernel/host.ts';
import { collect, type Streams } from '../lib/command-line/index.ts';
import { printable } from '../lib/text/index.ts';
import { addCommands } from './define-commands.ts';

/** Calls an action, with a terminal before the last argument. */
export type Run = (action: (...given: never[]) => unknown, given: readonly unknown[]) => Promise<void>;

export function createProgram(streams: Streams, run: Run, given: readonly FeatureCommands[]): Command {
  const program = new Command('skill-registry')
    .description('All SKILL.md skills of all your agents: what each costs, and which look like an attack.')
    .version(packageVersion())
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
      visibleCommands: (command) => new Help().visibleCommands(command).filter((one) => isShown(one, command)),
    })
    .exitOverride()
    .showHelpAfterError('(skill-registry --help lists the commands)')
    // Global options work before and after the command.
    .hook('preAction', (_all, command) => {
      for (let above = command.parent; above; above = above.parent) {
        for (const [name, value] of Object.entries(above.opts())) {
          if (command.getOptionValueSource(name) !== 'cli') command.setOptionValue(name, value);
        }
      }
      refuseEmpty(command);
    });
  const hasGuard = given.some(({ heldBecause }) => heldBecause);
  const withGlobal = (command: Command): Command => addGlobalOptions(command, hasGuard);
  withGlobal(program);
  program.addHelpText('after', ({ command }) => (isAll(command) ? '' : MORE));
  const added = given.flatMap(({ options = [] }) => options).toSorted((a, b) => a.order - b.order);
  const placed: Placed[] = [];
  const make = createMake(program, run, added, placed, withGlobal);
  addCommands(make, (made) => {
    for (const { add } of added.filter(({ command }) => command === made.name())) add(made);
    return made;
  });
  for (const { add } of given) add?.(make);
  const rank = ({ place: [group, order] }: Placed): number => Object.keys(GROUPS).indexOf(group) * 100 + order;
  for (const { command, place } of placed.sort((a, b) => rank(a) - rank(b)))
    program.addCommand(command, { hidden: place[0] === 'old' });
  // Of the command `help`.
  return program.commandsGroup(GROUPS.setup);
}

// --- internal ---

interface Placed {
  readonly command: Command;
  readonly place: Place;
}

/** @param placed - Receives the commands of the program; those below a command are added at once. */
function createMake(
  program: Command,
  run: Run,
  added: readonly AddedOptions[],
  placed: Placed[],
  withGlobal: (command: Command) => Command,
): Make {
  return (at, name, example, action, load) => {
    const parent = at instanceof Command ? at : undefined;
    const isDefault = parent !== undefined && name === 'list';
    const path = ['skill-registry', ...namesOf(parent ?? null), name].join(' ');
    const made = withGlobal(parent?.command(name, { isDefault }) ?? program.createCommand(name))
      .addHelpText('after', `\nExample:\n  ${example.replace('$', path)}`)
      .copyInheritedSettings(program);
    if (!(at instanceof Command)) placed.push({ command: made.helpGroup(GROUPS[at[0]]), place: at });
    const befores = added.flatMap(({ command, before = {} }) =>
      command === name && !parent ? Object.entries(before) : [],
    );
    const act = async (...all: never[]) => {
      for (const [option, loadBefore] of befores) {
        const status = made.getOptionValue(option) === undefined ? undefined : await (await loadBefore())(...all);
        if (status !== undefined) return status;
      }
      return action && (await load?.())?.[action](...all);
    };
    if (action) made.action((...words: unknown[]) => run(act, words));
    const itsOptions = `(${path} --help shows its options)`;
    if (!parent || !isDefault) return made.showHelpAfterError(itsOptions);
    // The default subcommand also receives unknown words.
    return made.configureOutput({
      outputError(text, write) {
        const isUnknown = /^error: too many arguments /.test(text);
        write(isUnknown ? `error: unknown command '${parent.name()} ${printable(made.args[0] ?? '')}'\n` : text);
        made.showHelpAfterError(isUnknown ? `(skill-registry ${parent.name()} --help lists its commands)` : itsOptions);
      },
    });
  };
}

function namesOf(command: Command | null): readonly string[] {
  return command ? [...namesOf(command.parent), command.name()] : [];
}

function isShown(command: Command, above: Command): boolean {
  return above.parent !== null || command.helpGroup() === GROUPS.first || isAll(above);
}

const MORE = '\nAll commands (with these options):\n  skill-registry --help --all';

function isAll({ args }: Command): boolean {
  return args.includes('--all');
}

/** An unset variable of a script gives an empty text, which as a path means the working folder. */
function refuseEmpty(command: Command): void {
  const { args, registeredArguments: known, options } = command;
  const argument = known[Math.min(args.indexOf(''), known.length - 1)];
  if (argument) command.error(`error: argument '${argument.name()}' is empty`);
  const option = options.find((one) => [command.getOptionValue(one.attributeName())].flat().includes(''));
  if (option) command.error(`error: option '${option.flags}' is empty`);
}

function addGlobalOptions(command: Command, hasGuard: boolean): Command {
  const add = (flags: string, description: string): Option => {
    // The help of the program has them once for all.
    const option = new Option(flags, description).hideHelp(command.name() !== 'skill-registry');
    command.addOption(option);
    return option;
  };
  if (!hasGuard) add('--no-guard', 'go on although nothing inspects skills before agents are given them');
  add(
    '--root <dir>',
    'folder with extensions/, skills/ and data/ (default: the nearest one upwards, else this folder)',
  );
  add('--skills <dir>', 'take skills from here instead of the configured sources; repeatable').argParser(collect);
  add('--trust', 'for this command: let code and settings of the root take effect, although nobody has approved it');
  add('--json', 'print JSON instead of text');
  return command;
}
