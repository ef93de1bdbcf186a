import { EXIT, type ExitStatus, type Options } from '../../../../lib/command-line/index.ts';
import type { CommandTerminal, FeatureCommands } from '../../core/command-line.ts';

export const commands: FeatureCommands = {
  add(make) {
    make(['root', 9], 'glossary', '$ tea', 'meaning', async () => ({ meaning }))
      .description('what a word of the glossary means')
      .argument('<word>', 'a word');
  },
};

async function meaning(word: string, options: Options, terminal: CommandTerminal): Promise<ExitStatus> {
  const { registry } = await terminal.openRegistry(options, { checksArguments: false });
  const { content } = await registry.read('glossary');
  const line = content.split('\n').find((one) => one.startsWith(`${word}:`));
  terminal.print({ word, line: line ?? null }, () => line ?? '');
  return line === undefined ? EXIT.problem : EXIT.done;
}
