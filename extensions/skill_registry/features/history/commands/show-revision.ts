import { EXIT, type ExitStatus } from '../../../../../lib/command-line/index.ts';
import { type CommandTerminal, filePathOf, type ShowOptions } from '../../../core/command-line.ts';

export async function showRevision(
  id: string,
  options: ShowOptions & { readonly revision: string },
  terminal: CommandTerminal,
): Promise<ExitStatus> {
  const path = filePathOf(options);
  const { registry } = await terminal.openRegistry(options, { checksArguments: false });
  const bytes = await registry.history.read(id, options.revision, path);
  const text = Buffer.from(bytes).toString('utf8');
  if (options.json) terminal.print({ skill_id: id, revision: options.revision, content: text, size: bytes.length });
  else if (terminal.terminal) terminal.write(text.endsWith('\n') ? text : `${text}\n`);
  else terminal.out(bytes);
  return EXIT.done;
}
