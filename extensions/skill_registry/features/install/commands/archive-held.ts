import { actorOf, type Options } from '../../../../../lib/command-line/index.ts';
import { printable } from '../../../../../lib/text/index.ts';
import type { SkillRegistry } from '../../../core/api.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import type { RemovedSkill } from '../types.ts';

/** Asks about each installed skill that looks like an attack now: other programs read its folder, too. */
export async function archiveHeld(
  { admin, origin, snapshot }: SkillRegistry,
  options: Options,
  terminal: CommandTerminal,
  isMeant: (id: string) => boolean = () => true,
): Promise<readonly RemovedSkill[]> {
  const moved: RemovedSkill[] = [];
  const verified = await terminal.during('Comparing with skills-lock.json', origin.verify());
  const skills = [...snapshot().byQualifiedId.values()];
  for (const { id, folder, state } of verified) {
    const skill = skills.find(({ dir }) => dir !== null && dir === folder);
    if (!skill || !isMeant(id)) continue;
    const { heldBecause, verdict } = await admin.trustOf(skill.qualifiedId);
    if (heldBecause === null || verdict !== 'block') continue;
    const where = `Other programs read ${folder}.`;
    if (state === 'drifted') {
      terminal.say(`${skill.id} is held, and stays, because it was changed here. ${where}`);
      continue;
    }
    const question = `${printable(skill.id)} is held. ${where} Move it to the archive, with its links?`;
    if (!(await terminal.agrees(question))) continue;
    const actor = { ...actorOf(options, terminal), reason: options.reason ?? heldBecause };
    moved.push(await origin.remove(skill.qualifiedId, actor, { asInstalled: true }));
    terminal.say(`${skill.id} is in the archive. Back: skill-registry rollback ${skill.id}`);
  }
  return moved;
}
