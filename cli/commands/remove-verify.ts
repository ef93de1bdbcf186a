import { formatTable, printable, toWire } from '../../lib/text/index.ts';
import { openRegistry } from '../open-registry.ts';
import {
  actorOf,
  assertCanAsk,
  type ConfirmedOptions,
  EXIT,
  type ExitStatus,
  type GlobalOptions,
  isConfirmedOrYes,
  printJson,
  type Terminal,
  widthOf,
} from '../terminal.ts';

/** `skill-registry remove <id>`. With `--json`: the removed skill. */
export async function remove(
  id: string,
  options: GlobalOptions & ConfirmedOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  assertCanAsk(options, terminal);
  const { registry } = await openRegistry(options, terminal);
  const question = `Remove ${printable(id)}? It goes to the archive: \`skill-registry restore\` brings it back.`;
  const isMeant = await isConfirmedOrYes(question, options, terminal);
  if (isMeant) {
    const removed = await registry.origin.remove(id, actorOf(options, terminal));
    if (options.json) printJson(terminal, toWire(removed));
    const lock = removed.wasLocked ? '; its entry in skills-lock.json is taken out' : '';
    const where = removed.revision === undefined ? 'is gone' : 'is in the archive';
    terminal.err(`${printable(removed.id)} ${where}${lock}\n`);
  }
  await registry.close();
  return isMeant ? EXIT.done : EXIT.problem;
}

/** `skill-registry verify`. With `--json`: `{ skills: [LockedSkill] }`. */
export async function verify(options: GlobalOptions, terminal: Terminal): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const skills = await registry.origin.verify();
  const wrong = skills.filter(({ state }) => state !== 'same');
  if (options.json) printJson(terminal, { skills: skills.map(toWire) });
  else if (skills.length > 0) {
    const rows = skills.map(({ name, state, weak, source, changed, reason }) => [
      name,
      `${state}${weak ? ' (weak)' : ''}`,
      source,
      reason ?? changed.join(', '),
    ]);
    terminal.out(`${formatTable(['SKILL', 'STATE', 'FROM', 'WHAT'], rows, widthOf(terminal))}\n`);
  }
  terminal.err(`${skills.length} skill(s) in skills-lock.json, ${wrong.length} not as it says\n`);
  const weak = skills.filter((skill) => skill.weak).length;
  if (weak > 0)
    terminal.err(`weak: ${weak} entry(s) of another tool, whose computedHash two different folders can share\n`);
  await registry.close();
  return wrong.length > 0 ? EXIT.problem : EXIT.done;
}
