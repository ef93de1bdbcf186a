import { declaredTurn } from '../../../../kernel/host.ts';
import { EXIT, type ExitStatus, invalidArgument, type Options } from '../../../../lib/command-line/index.ts';
import { plural, printable, toWire } from '../../../../lib/text/index.ts';
import type { CommandTerminal } from '../../core/command-line.ts';

interface LoadedOptions extends Options {
  readonly agent?: string;
  readonly last?: boolean;
  readonly thread?: string;
  readonly tokens?: string;
}

export async function loaded(options: LoadedOptions, terminal: CommandTerminal): Promise<ExitStatus> {
  const { agent, last, tokens } = options;
  if (options.thread === undefined && !last) throw invalidArgument('Give --thread <id>, or --last for a guess.');
  if (tokens !== undefined && !/^\d{1,9}$/.test(tokens)) throw invalidArgument('--tokens takes a whole number.');
  const { registry, root, trusted } = await terminal.openRegistry(options);
  const { usage } = registry;
  const turn = agent === undefined ? {} : await declaredTurn(root, agent, trusted, registry.admin.agents());
  const threads = last ? (await usage.report({ agent })).threads : [];
  const thread = options.thread ?? threads.find((one) => one.agent === (agent ?? null))?.thread;
  const query = { agent, thread: thread ?? '', ...(tokens === undefined ? {} : { tokens: Number(tokens) }) };
  const { skills, text } = thread === undefined ? { skills: [], text: '' } : await usage.loadedIn(query, turn);
  const guess = last ? 'A guess: this is the conversation that was used last.\n\n' : '';
  const shown = terminal.terminal ? printable(text) : text;
  terminal.print({ thread, guess: last === true, skills: skills.map(toWire) }, () =>
    text === '' ? '' : guess + shown,
  );
  terminal.say(
    `${plural(skills.length, 'skill')} loaded in ${thread === undefined ? 'no conversation' : `thread ${thread}`}`,
  );
  return skills.length > 0 ? EXIT.done : EXIT.problem;
}
