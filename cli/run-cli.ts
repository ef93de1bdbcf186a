import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { ValidationProfile } from 'skill-registry';
import { describeError, isCodedError, packageRoot } from 'skill-registry/kernel';
import { printable } from '../lib/text/index.ts';
import type { SearchFlags } from './commands/search.ts';
import type { ShowFlags } from './commands/show.ts';
import type { StartOptions } from './commands/start.ts';
import { FINDING_FORMATS, type FindingFormat } from './finding-formats.ts';
import { addHistoryCommands } from './history-commands.ts';
import { addSetupCommands } from './setup-commands.ts';
import { collect, EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal } from './terminal.ts';
import { addTrustCommands } from './trust-commands.ts';

/**
 * Runs one `skill-registry` command.
 *
 * @param args - Without the program's own name.
 * @returns 0 done, 1 a problem of severity error or nothing found for a named id, 2 wrong use. Never rejects.
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

function createProgram(terminal: Terminal, done: (status: ExitStatus) => void): Command {
  const program = new Command('skill-registry')
    .description('Finds SKILL.md skills, shows what agents see of them, and runs the agent kernel they serve.')
    .version(versionOf())
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .exitOverride()
    .showHelpAfterError('(skill-registry --help lists the commands)')
    // Given before the command or after it, they mean the same.
    .hook('preAction', (_all, command) => {
      for (let above = command.parent; above; above = above.parent) {
        for (const [name, value] of Object.entries(above.opts())) {
          if (command.getOptionValue(name) === undefined) command.setOptionValue(name, value);
        }
      }
    });
  addGlobalOptions(program);

  const command = (name: string, description: string, example: string, parent: Command = program): Command =>
    addGlobalOptions(parent.command(name, { isDefault: parent !== program && name === 'list' }))
      .description(description)
      .addHelpText('after', `\nExample:\n  ${example}`)
      .copyInheritedSettings(program);

  command('start', 'boot the kernel and open its prompt', 'skill-registry start --root .')
    .option('--enable <id>', 'also start an extension that is off by default, skill_mcp; repeatable', collect)
    .action(async (options: StartOptions) =>
      done(await (await import('./commands/start.ts')).start(options, terminal)),
    );
  command('list', 'the catalog: id, tokens, source, description', 'skill-registry list --json | jq .total').action(
    async (options: GlobalOptions) => done(await (await import('./commands/list.ts')).list(options, terminal)),
  );
  command(
    'show',
    'one skill: its instructions, its file as it is, or one of its files',
    'skill-registry show code-review',
  )
    .argument('<id>', 'id or qualified id (<source>:<path>)')
    .option('--resource <path>', 'print this file of the skill')
    .option('--reference <name>', 'the same, below references/')
    .option('--script <name>', 'the same, below scripts/; it is never run')
    .option('--revision <revision>', 'as it was: a number or digest of its history')
    .addOption(
      new Option('--raw', 'print SKILL.md as it is, frontmatter included').conflicts([
        'resource',
        'reference',
        'script',
      ]),
    )
    .action(async (id: string, options: GlobalOptions & ShowFlags) =>
      done(await (await import('./commands/show.ts')).show(id, options, terminal)),
    );
  command('search', 'the skills that fit, best first, and why', 'skill-registry search "flaky tests" --limit 5')
    .argument('<query>', 'what the skill is to be for, its name, or a "phrase"')
    .option('--limit <count>', 'at most this many, 1-200 (default: 20)', countOption)
    .option('--tag <tag>', 'only skills with this tag')
    .option('--source <id>', 'only skills of this source')
    .option('--embed', 'first embed the skills that are not embedded yet, for search by meaning')
    .action(async (query: string, options: GlobalOptions & SearchFlags) =>
      done(await (await import('./commands/search.ts')).search(query, options, terminal)),
    );
  command('doctor', 'everything that is wrong, what to fix first', 'skill-registry doctor --skills ~/.claude/skills')
    .option('--overlap', 'skills that compete for the same tasks, and queries that another skill steals')
    .action(async (options: GlobalOptions & { overlap?: boolean }) =>
      done(
        await (options.overlap
          ? (await import('./commands/overlap.ts')).overlap(options, terminal)
          : (await import('./commands/doctor.ts')).doctor(options, terminal)),
      ),
    );
  command(
    'validate',
    'whether skills are as agentskills.io wants them, and what is not',
    'skill-registry validate skills/code-review skills/tea/SKILL.md',
  )
    .argument('<path...>', 'skill folders, or their SKILL.md')
    .addOption(new Option('--profile <name>', 'whose rules').choices(['spec', 'strict', 'lenient']).default('spec'))
    .addOption(new Option('--format <name>', 'findings with file and line, for machines').choices(FINDING_FORMATS))
    .action(
      async (
        paths: readonly string[],
        options: GlobalOptions & { profile: ValidationProfile; format?: FindingFormat },
      ) => done(await (await import('./commands/validate.ts')).validate(paths, options, terminal)),
    );
  command('properties', 'the fields of one skill as JSON', 'skill-registry properties skills/code-review | jq .name')
    .argument('<path>', 'skill folder, or its SKILL.md')
    .action(async (path: string, options: GlobalOptions) =>
      done(await (await import('./commands/properties.ts')).properties(path, options, terminal)),
    );
  command(
    'prompt',
    'the <available_skills> block for the system prompt of any agent',
    'skill-registry prompt skills/* > prompt.xml',
  )
    .argument('<path...>', 'skill folders, or their SKILL.md')
    .action(async (paths: readonly string[], options: GlobalOptions) =>
      done(await (await import('./commands/prompt.ts')).prompt(paths, options, terminal)),
    );
  addHistoryCommands(command, done, terminal);
  addTrustCommands(command, done, terminal);
  addSetupCommands(command, program, done, terminal);
  return program;
}

function addGlobalOptions(command: Command): Command {
  return command
    .option('--root <dir>', 'folder with extensions/, skills/ and data/ (default: the nearest one, else here)')
    .option('--skills <dir>', 'take skills from here instead of the configured sources; repeatable', collect)
    .option('--trust', 'let the root act for this command, though nobody has approved it')
    .option('--json', 'print data as JSON');
}

function countOption(value: string): number {
  const count = Number(value);
  if (Number.isInteger(count) && count >= 1 && count <= 200) return count;
  throw new InvalidArgumentError('It is a whole number from 1 to 200.');
}

function fail(error: unknown, json: boolean, terminal: Terminal): ExitStatus {
  const code = isCodedError(error) ? error.code : 'UNEXPECTED_FAILURE';
  const message = error instanceof Error ? error.message : String(error);
  if (json) printJson(terminal, { error: { code, message } });
  terminal.err(`skill-registry: ${printable(describeError(error))}\n`);
  return code === 'ROOT_NOT_FOUND' || code === 'INVALID_ARGUMENT' ? EXIT.wrongUse : EXIT.problem;
}

function versionOf(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
