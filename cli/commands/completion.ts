import type { Command } from 'commander';
import { heldExtensions } from '../../kernel/host.ts';
import { findRoot } from '../find-root.ts';
import { openRegistry } from '../open-registry.ts';
import { EXIT, type ExitStatus, exitOf, type Options, type Terminal } from '../terminal.ts';

/** Generates the script from the command definitions. On tab it calls `completion ids` or a similar word. */
export async function completion(
  shell: string,
  options: Options,
  terminal: Terminal,
  { parent }: Command,
): Promise<ExitStatus> {
  if (shell === 'ids' || shell === 'proposals' || shell === 'extensions') {
    const names = await namesOf(shell, options, terminal);
    // Anybody may choose a folder name, which becomes an id: leave out ids with characters that a shell interprets.
    const isSafe = (name: string): boolean => /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_./-]*$/u.test(name);
    for (const name of names.filter(isSafe)) terminal.out(`${name}\n`);
    return EXIT.done;
  }
  if (!SHELLS.includes(shell)) {
    terminal.say(`skill-registry: no completion for ${JSON.stringify(shell)}; there is ${SHELLS.join(', ')}.`);
    return exitOf('INVALID_ARGUMENT');
  }
  const script = bashScript(parent?.commands ?? []);
  terminal.out(shell === 'bash' ? script : `autoload -Uz bashcompinit && bashcompinit\n${script}`);
  return EXIT.done;
}

// --- internal ---

const SHELLS = ['bash', 'zsh'];

type Names = 'ids' | 'proposals' | 'extensions';

async function namesOf(what: Names, options: Options, terminal: Terminal): Promise<readonly string[]> {
  if (what === 'extensions') return heldExtensions(findRoot(options, terminal)).map(({ name }) => name);
  const { registry } = await openRegistry(options, terminal, { inspect: false, checksArguments: false });
  if (what === 'ids') return registry.snapshot().skills.map(({ id }) => id);
  return (await registry.proposals.list()).map(({ id }) => id);
}

/** Take a skill id or a folder. */
const IDS_OR_FOLDERS: ReadonlySet<string> = new Set(['inspect', 'trust allow', 'trust revoke']);

function takenBy(command: Command): Names | 'files' {
  const names = command.registeredArguments.map((argument) => argument.name());
  const whole = wholeName(command);
  if (/^extensions ./.test(whole) && names.length > 0) return 'extensions';
  if (/^proposals ./.test(whole) && names.length > 0) return 'proposals';
  return IDS_OR_FOLDERS.has(whole) || (names.includes('id') && whole !== 'new') ? 'ids' : 'files';
}

function wholeName(command: Command): string {
  const above = command.parent;
  return above?.parent ? `${above.name()} ${command.name()}` : command.name();
}

/** `compgen -W` runs command substitutions in its words: never give it names that were read from a folder. */
function bashScript(commands: readonly Command[]): string {
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
${all.map(bashCase).join('\n')}
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

function bashCase(command: Command): string {
  const name = wholeName(command);
  const flags = command.options.map(({ long }) => long ?? '').join(' ');
  const choices = name === 'completion' ? SHELLS.join(' ') : '';
  const pattern = name.includes(' ') ? `"${name}"` : name;
  return `    ${pattern}) flags="${flags}"; takes=${takenBy(command)}; subs="${namesIn(command.commands)}"; choices="${choices}" ;;`;
}

function namesIn(commands: readonly Command[], between = ' '): string {
  return commands.map((one) => one.name()).join(between);
}
