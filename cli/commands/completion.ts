import type { Command } from 'commander';
import {
  type FeatureCommands,
  GROUPS,
  type CommandTerminal as Terminal,
} from '../../extensions/skill_registry/core/command-line.ts';
import { EXIT, type ExitStatus, exitOf, type Options } from '../../lib/command-line/index.ts';

/** Generates the script from the command definitions. On tab it calls `completion ids` or a similar word. */
export async function completion(
  shell: string,
  options: Options,
  terminal: Terminal,
  { parent }: Command,
): Promise<ExitStatus> {
  const completes: Completes = Object.assign({}, COMPLETES, ...terminal.features.map((one) => one.completes));
  const names = await namesOf(shell, completes, options, terminal);
  if (names) {
    // Anybody may choose a folder name, which becomes an id: leave out ids with characters that a shell interprets.
    const isSafe = (name: string): boolean => /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_./-]*$/u.test(name);
    for (const name of names.filter(isSafe)) terminal.out(`${name}\n`);
    return EXIT.done;
  }
  if (!SHELLS.includes(shell)) {
    terminal.say(`skill-registry: no completion for ${JSON.stringify(shell)}; there is ${SHELLS.join(', ')}.`);
    return exitOf('INVALID_ARGUMENT');
  }
  const commands = (parent?.commands ?? []).filter((one) => one.helpGroup() !== GROUPS.old);
  const script = bashScript(commands, completes);
  terminal.out(shell === 'bash' ? script : `autoload -Uz bashcompinit && bashcompinit\n${script}`);
  return EXIT.done;
}

// --- internal ---

const SHELLS = ['bash', 'zsh'];

type Completes = NonNullable<FeatureCommands['completes']>;

/** An `id` may also be a folder. */
const COMPLETES: Completes = Object.fromEntries(
  ['approvals', 'trust'].flatMap((name) => ['show', 'allow', 'revoke'].map((one) => [`${name} ${one}`, 'ids'])),
);

/** Undefined for what has no names. */
async function namesOf(
  what: string,
  completes: Completes,
  options: Options,
  terminal: Terminal,
): Promise<readonly string[] | undefined> {
  const list = Object.hasOwn(completes, what) ? completes[what] : undefined;
  if (what !== 'ids' && typeof list !== 'function') return undefined;
  const { registry } = await terminal.openRegistry(options, { inspect: false, checksArguments: false });
  return typeof list === 'function' ? list(registry) : registry.snapshot().skills.map(({ id }) => id);
}

/** The word that `namesOf` takes, or `files`. */
function takenBy(command: Command, completes: Completes): string {
  const names = command.registeredArguments.map((argument) => argument.name());
  if (names.length === 0) return 'files';
  const whole = wholeName(command);
  const [group = ''] = whole.split(' ');
  if (typeof completes[group] === 'function') return group;
  const taken = completes[whole];
  return typeof taken === 'string' ? taken : names.includes('id') ? 'ids' : 'files';
}

function wholeName(command: Command): string {
  const above = command.parent;
  return above?.parent ? `${above.name()} ${command.name()}` : command.name();
}

/** `compgen -W` runs command substitutions in its words: never give it names that were read from a folder. */
function bashScript(commands: readonly Command[], completes: Completes): string {
  const all = commands.flatMap((one) => [one, ...one.commands]);
  const grouping = commands.filter((one) => one.commands.length > 0);
  const valued = new Set(
    all.flatMap(({ options }) => options.filter((one) => one.required || one.optional)).map(({ long }) => long),
  );
  const chosen = new Map(
    all.flatMap(({ options }) =>
      options.flatMap(({ long, argChoices }) => (argChoices ? [[long, argChoices.join(' ')]] : [])),
    ),
  );
  return `_skill_registry() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="" sub="" flags="" takes=files subs="" choices="" at name
  COMPREPLY=()
  case "$before" in
${[...chosen].map(([long, words]) => `    ${long}) COMPREPLY=($(compgen -W "${words}" -- "$word")); return ;;`).join('\n')}
    ${[...valued].filter((long) => !chosen.has(long)).join('|')}) return ;;
  esac
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${COMP_WORDS[at]}" in
      ${[...valued].join('|')}) at=$((at + 1)) ;;
      -*) ;;
      *) if [ -z "$command" ]; then command="\${COMP_WORDS[at]}"; elif [ -z "$sub" ]; then sub="\${COMP_WORDS[at]}"; fi ;;
    esac
  done
  if [ -z "$command" ] && [[ "$word" != -* ]]; then
    COMPREPLY=($(compgen -W "${namesIn(commands)}" -- "$word"))
    return
  fi
  case "$command" in
    ${namesIn(grouping, '|')}) if [ -n "$sub" ]; then command="$command $sub"; fi ;;
  esac
  case "$command" in
${all.map((one) => bashCase(one, completes)).join('\n')}
  esac
  if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif [ -n "$subs$choices" ]; then COMPREPLY=($(compgen -W "$subs $choices" -- "$word"))
  elif [ "$takes" != files ]; then
    while IFS= read -r name; do
      if [[ "$name" == "$word"* ]]; then COMPREPLY+=("$name"); fi
    done < <(skill-registry completion "$takes" 2>/dev/null)
  fi
}
complete -o filenames -o default -F _skill_registry skill-registry
`;
}

function bashCase(command: Command, completes: Completes): string {
  const name = wholeName(command);
  const flags = command.options.map(({ long }) => long ?? '').join(' ');
  const choices = name === 'completion' ? SHELLS.join(' ') : '';
  const pattern = name.includes(' ') ? `"${name}"` : name;
  return `    ${pattern}) flags="${flags}"; takes=${takenBy(command, completes)}; subs="${namesIn(command.commands)}"; choices="${choices}" ;;`;
}

function namesIn(commands: readonly Command[], between = ' '): string {
  return commands.map((one) => one.name()).join(between);
}
