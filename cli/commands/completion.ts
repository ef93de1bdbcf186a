import type { Command, Option } from 'commander';
import { openRegistry } from '../open-registry.ts';
import { EXIT, type ExitStatus, exitOf, type GlobalOptions, SHELLS, type Shell, type Terminal } from '../terminal.ts';

/**
 * `skill-registry completion`. The scripts are generated from the command definitions, so they are complete. They call
 * `skill-registry completion ids` when tab is pressed.
 */
export async function completion(
  shell: string,
  program: Command,
  options: GlobalOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  // Used by the scripts; not listed in the help.
  if (shell === 'ids') {
    const { registry } = await openRegistry(options, terminal, false);
    // An id is a folder name that anybody may have chosen: ids with characters that a shell interprets are left out.
    const ids = registry.snapshot().skills.map(({ id }) => id);
    const isSafe = (id: string): boolean => /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_./-]*$/u.test(id);
    for (const id of ids.filter(isSafe)) terminal.out(`${id}\n`);
    await registry.close();
    return EXIT.done;
  }
  const write = SCRIPTS.get(shell);
  if (!write) {
    terminal.err(`skill-registry: no completion for ${JSON.stringify(shell)}; there is ${SHELLS.join(', ')}.\n`);
    return exitOf('INVALID_ARGUMENT');
  }
  terminal.out(write(program.commands.map((one) => wordsOf(one))));
  return EXIT.done;
}

// --- internal ---

interface CommandWords {
  readonly name: string;
  readonly description: string;
  readonly options: readonly Option[];
  /** What its arguments are: ids of skills, or paths. */
  readonly takes: 'ids' | 'files';
}

function wordsOf(command: Command): CommandWords {
  const takesId = command.name() !== 'new' && command.registeredArguments.some((argument) => argument.name() === 'id');
  return {
    name: command.name(),
    description: command.description(),
    options: command.options,
    takes: takesId ? 'ids' : 'files',
  };
}

const flags = ({ options }: CommandWords): string => options.map(({ long }) => long ?? '').join(' ');

const SCRIPTS: ReadonlyMap<string, (commands: readonly CommandWords[]) => string> = new Map<
  Shell,
  (commands: readonly CommandWords[]) => string
>([
  ['bash', bashScript],
  // zsh can run the bash script with bashcompinit.
  ['zsh', (commands) => `autoload -Uz bashcompinit && bashcompinit\n${bashScript(commands)}`],
  ['fish', fishScript],
]);

/** `compgen -W` expands its words, command substitutions included: it must not get names that were read from a folder. */
function bashScript(commands: readonly CommandWords[]): string {
  const cases = commands.map((one) => `    ${one.name}) flags="${flags(one)}"; takes=${one.takes} ;;`).join('\n');
  return `_skill_registry() {
  local word="\${COMP_WORDS[COMP_CWORD]}" flags="" takes=files id
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')}" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases}
  esac
  if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif [ "$takes" = ids ]; then
    while IFS= read -r id; do
      if [[ "$id" == "$word"* ]]; then COMPREPLY+=("$id"); fi
    done < <(skill-registry completion ids 2>/dev/null)
  fi
}
complete -o filenames -o default -F _skill_registry skill-registry
`;
}

function fishScript(commands: readonly CommandWords[]): string {
  const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;
  const lines = commands.flatMap((one) => [
    `complete -c skill-registry -n __fish_use_subcommand -f -a ${one.name} -d ${quoted(one.description)}`,
    ...one.options.map(
      ({ long, description }) =>
        `complete -c skill-registry -n '__fish_seen_subcommand_from ${one.name}' -l ${(long ?? '').slice(2)} -d ${quoted(description)}`,
    ),
    ...(one.takes === 'ids'
      ? [
          `complete -c skill-registry -n '__fish_seen_subcommand_from ${one.name}' -f -a '(skill-registry completion ids)'`,
        ]
      : []),
  ]);
  return `${lines.join('\n')}\n`;
}
