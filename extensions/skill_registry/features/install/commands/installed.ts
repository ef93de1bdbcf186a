import { actorOf, EXIT, type ExitStatus, type Options } from '../../../../../lib/command-line/index.ts';
import { plural, printable, toWire } from '../../../../../lib/text/index.ts';
import type { SkillRegistry } from '../../../core/api.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import { inspectChanged } from '../../guard/commands/confirm.ts';
import type { RemovedSkill, SkillUpdate } from '../types.ts';
import { askAndApply, findingLines, type LettingOptions, refusedOf } from './blocked-skills.ts';

export async function update(
  ids: readonly string[],
  options: LettingOptions & { readonly check?: boolean },
  terminal: CommandTerminal,
): Promise<ExitStatus> {
  const { registry } = await terminal.openRegistry(options);
  const looked = registry.origin.update(ids.length > 0 ? ids : undefined);
  const plan = await terminal.during('Looking for what is newer', looked);
  const outdated = plan.skills.filter(({ state }) => state === 'outdated');
  if (!options.json && plan.skills.length > 0) terminal.out(`${describe(plan.skills, terminal)}\n`);
  for (const { id, findings } of outdated)
    for (const line of findingLines(findings, ['block', 'warn', 'info'])) terminal.say(`${id}: ${line.trim()}`);
  for (const { id, reaches } of outdated) if (reaches !== '') terminal.say(`${id} ${reaches}`);
  for (const { id, files, diff } of options.check ? [] : outdated)
    if (diff !== '')
      terminal.say(`${id}, ${plural(files.filter(({ change }) => change !== 'kept').length, 'file')}:\n${diff}`);
  terminal.say(lockedText(plan.skills, `${outdated.length} outdated`));
  const isAsked = !options.check && outdated.length > 0;
  const wordsFor = (id: string) => ['update', id];
  const letting = { plan, skills: outdated, verb: 'Update', isAsked, wordsFor } as const;
  const { isMeant, changed: updated, refused } = await askAndApply(letting, options, terminal);
  for (const { id, revision, proposals } of updated) {
    terminal.say(`${id} is updated, as revision ${revision}`);
    for (const proposal of proposals)
      terminal.say(`A conflict waits for you: skill-registry proposals edit ${proposal}`);
  }
  // Unchanged skills too: a newer rule may hold them.
  const known = new Set(plan.skills.map(({ id }) => id));
  await inspectChanged(registry, ({ id }) => known.has(id), terminal);
  const archived = options.check ? [] : await archiveHeld(registry, options, terminal, (id) => known.has(id));
  const skills = plan.skills.map(toWire);
  terminal.print({ skills, updated: updated.map(toWire), refused, archived: archived.map(toWire) });
  const isWrong = plan.skills.some(({ state }) => state === 'absent' || state === 'failed');
  const isBlocked = options.check ? refusedOf(outdated, options).length > 0 : refused.length > 0;
  return isWrong || isBlocked || (isAsked && !isMeant) ? EXIT.problem : EXIT.done;
}

export async function remove(id: string, options: Options, terminal: CommandTerminal): Promise<ExitStatus> {
  const { registry } = await terminal.openRegistry(options);
  const question = `Remove ${printable(id)}? It goes to the archive: \`skill-registry rollback\` brings it back.`;
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
  const skills = await terminal.during('Comparing with skills-lock.json', registry.origin.verify());
  const wrong = skills.filter(({ state }) => state !== 'same');
  const rows = skills.map(({ name, ofPerson, state, weak, source, changed, reason }) => [
    `${name}${ofPerson ? ' (home)' : ''}`,
    `${state}${weak ? ' (weak)' : ''}`,
    source,
    reason ?? changed.join(', '),
  ]);
  terminal.print({ skills: skills.map(toWire) }, () => terminal.table(['SKILL', 'STATE', 'FROM', 'WHAT'], rows));
  terminal.say(lockedText(skills, wrong.length === 0 ? 'all as it says' : `${wrong.length} not as it says`));
  for (const [state, advice] of Object.entries(ADVICE))
    if (skills.some((skill) => skill.state === state)) terminal.say(`${state}: ${advice}`);
  const weak = skills.filter((skill) => skill.weak).length;
  if (weak > 0) terminal.say(`weak: ${weak} of another tool, whose computedHash two different folders can share`);
  return wrong.length > 0 ? EXIT.problem : EXIT.done;
}

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

// --- internal ---

function lockedText({ length }: readonly unknown[], how: string): string {
  return length === 0 ? 'Nothing is installed here' : `${plural(length, 'skill')} in skills-lock.json, ${how}`;
}

function describe(skills: readonly SkillUpdate[], { table }: CommandTerminal): string {
  const rows = skills.map(({ id, ofPerson, state, drifted, blocked, files, source, reason }) => {
    const changes = files.map(({ path, change }) => `${path} ${change}`).join(', ');
    const attack = blocked === undefined ? '' : ', looks like an attack';
    return [
      `${id}${ofPerson ? ' (home)' : ''}`,
      `${state}${drifted ? ', changed here' : ''}${attack}`,
      source,
      reason ?? changes,
    ];
  });
  return table(['SKILL', 'STATE', 'FROM', 'WHAT'], rows);
}

type State = Awaited<ReturnType<SkillRegistry['origin']['verify']>>[number]['state'];

const ADVICE: Readonly<Record<Exclude<State, 'same'>, string>> = {
  absent:
    'skill-registry add --frozen installs it again, skill-registry remove takes its entry out. In your home directory (home) only the latter: then add it again',
  drifted:
    'it was changed here. skill-registry update keeps the change. To drop it, move its folder away, and run skill-registry add --frozen --to with the folder that it was in',
  broken: 'skill-registry remove takes the entry out',
  unlinked:
    'the agent of that folder may not see it. Move away what is there, if anything; then skill-registry add --frozen makes the link again',
};
