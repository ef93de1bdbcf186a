import { expect, it } from 'vitest';
import { commandTerminal } from '../../cli/command-terminal.ts';
import { createProgram } from '../../cli/create-program.ts';
import { type Options, type Streams, terminalOf } from '../../lib/command-line/index.ts';

/** The command in a tree without features. */
async function runAlone(args: readonly string[]): Promise<string> {
  let text = '';
  const out = (data: string | Uint8Array): void => {
    text += data;
  };
  const [cwd, environment, input] = [process.cwd(), {}, async () => new Uint8Array()];
  const streams: Streams = { cwd, environment, terminal: false, columns: 100, progress: false, input, out, err: out };
  const program = createProgram(
    streams,
    async (action, words) => {
      const terminal = commandTerminal(terminalOf(streams, words.at(-2) as Options, []), []);
      await action(...([...words.slice(0, -1), terminal, words.at(-1)] as never[]));
    },
    [],
  );
  await program.parseAsync(args, { from: 'user' }).catch((error: Error) => {
    text += error.message;
  });
  return text;
}

it('offers to go without a guard where no feature is one', async () => {
  expect(await runAlone(['--help'])).toContain('--no-guard');
});

it.each([
  ['before', ['--no-guard', 'mcp', '--http', '0']],
  ['after', ['mcp', '--http', '0', '--no-guard']],
])('never serves over HTTP without a guard, with the option %s the command', async (_where, args) => {
  expect(await runAlone(args)).toContain('--no-guard is not for HTTP');
});
