import type { SkillRegistry } from 'skill-registry';
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
    const gone = removed.wasLocked ? 'has no files below this root' : 'is gone';
    const where = removed.revision === undefined ? gone : 'is in the archive';
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
  for (const advice of adviceFor(skills)) terminal.err(`${advice}\n`);
  const weak = skills.filter((skill) => skill.weak).length;
  if (weak > 0)
    terminal.err(`weak: ${weak} entry(s) of another tool, whose computedHash two different folders can share\n`);
  await registry.close();
  return wrong.length > 0 ? EXIT.problem : EXIT.done;
}

// --- internal ---

type LockedSkill = Awaited<ReturnType<SkillRegistry['origin']['verify']>>[number];

/** What can be done about each state that is not `same`. */
function adviceFor(skills: readonly LockedSkill[]): readonly string[] {
  const has = (state: LockedSkill['state']): boolean => skills.some((skill) => skill.state === state);
  return [
    ...(has('absent')
      ? ['absent: skill-registry add --frozen installs it again, skill-registry remove takes its entry out']
      : []),
    ...(has('drifted')
      ? [
          'drifted: it was changed here. skill-registry update keeps the change. To drop it, move its folder away, and run skill-registry add --frozen --to with the folder that it was in',
        ]
      : []),
    ...(has('broken') ? ['broken: skill-registry remove takes the entry out'] : []),
  ];
}
