import { actorOf, EXIT, type ExitStatus, type Options } from '../../../../../lib/command-line/index.ts';
import { printable, toWire } from '../../../../../lib/text/index.ts';
import type { SkillRegistry } from '../../../core/api.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';

export async function remove(id: string, options: Options, terminal: CommandTerminal): Promise<ExitStatus> {
  terminal.assertCanAsk();
  const { registry } = await terminal.openRegistry(options);
  const question = `Remove ${printable(id)}? It goes to the archive: \`skill-registry restore\` brings it back.`;
  if (!(await terminal.agrees(question))) return EXIT.problem;
  const removed = await registry.origin.remove(id, actorOf(options, terminal));
  terminal.print(toWire(removed));
  const lock = removed.wasLocked ? '; its entry in skills-lock.json is taken out' : '';
  const gone = removed.wasLocked ? 'has no files below this root' : 'is gone';
  terminal.say(`${removed.id} ${removed.revision === undefined ? gone : 'is in the archive'}${lock}`);
  return EXIT.done;
}

export async function verify(options: Options, terminal: CommandTerminal): Promise<ExitStatus> {
  const { registry } = await terminal.openRegistry(options, { checksArguments: false });
  const skills = await registry.origin.verify();
  const wrong = skills.filter(({ state }) => state !== 'same');
  const rows = skills.map(({ name, state, weak, source, changed, reason }) => [
    name,
    `${state}${weak ? ' (weak)' : ''}`,
    source,
    reason ?? changed.join(', '),
  ]);
  terminal.print({ skills: skills.map(toWire) }, () => terminal.table(['SKILL', 'STATE', 'FROM', 'WHAT'], rows));
  terminal.say(`${skills.length} skill(s) in skills-lock.json, ${wrong.length} not as it says`);
  for (const [state, advice] of Object.entries(ADVICE))
    if (skills.some((skill) => skill.state === state)) terminal.say(`${state}: ${advice}`);
  const weak = skills.filter((skill) => skill.weak).length;
  if (weak > 0)
    terminal.say(`weak: ${weak} entry(s) of another tool, whose computedHash two different folders can share`);
  return wrong.length > 0 ? EXIT.problem : EXIT.done;
}

// --- internal ---

type State = Awaited<ReturnType<SkillRegistry['origin']['verify']>>[number]['state'];

const ADVICE: Readonly<Record<Exclude<State, 'same'>, string>> = {
  absent: 'skill-registry add --frozen installs it again, skill-registry remove takes its entry out',
  drifted:
    'it was changed here. skill-registry update keeps the change. To drop it, move its folder away, and run skill-registry add --frozen --to with the folder that it was in',
  broken: 'skill-registry remove takes the entry out',
};
