import { printable } from 'skill-registry/kernel';
import { openRegistry } from '../open-registry.ts';
import { EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal } from '../terminal.ts';

/** `skill-registry show <id>` */
export async function show(
  id: string,
  options: GlobalOptions & { readonly resource?: string; readonly raw?: boolean },
  terminal: Terminal,
): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  if (options.resource !== undefined) {
    const resource = await registry.readResource(id, options.resource);
    if (options.json) printJson(terminal, resource);
    else if (resource.encoding === 'utf-8') printText(resource.content, terminal);
    else if (!terminal.terminal) terminal.out(Buffer.from(resource.content, 'base64'));
    else terminal.err(`${resource.path} is binary (${resource.size} bytes); send it to a file: > name\n`);
    return EXIT.done;
  }
  const skill = await registry.read(id, { view: options.raw ? 'raw' : 'body' });
  if (options.json) {
    printJson(terminal, skill);
    return EXIT.done;
  }
  printText(skill.content, terminal);
  const files = skill.resources.map(({ path, size }) => `\n  ${printable(path)} (${size} bytes)`).join('');
  terminal.err(`\n${skill.message}${skill.hint ? `\n${skill.hint}` : ''}${files ? `\nFiles:${files}` : ''}\n`);
  return EXIT.done;
}

// --- internal ---

/** Bytes stay as they are unless a terminal would obey them. */
function printText(text: string, terminal: Terminal): void {
  const shown = terminal.terminal ? printable(text) : text;
  terminal.out(shown.endsWith('\n') ? shown : `${shown}\n`);
}
