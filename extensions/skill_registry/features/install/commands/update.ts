import { EXIT, type ExitStatus } from '../../../../../lib/command-line/index.ts';
import { toWire } from '../../../../../lib/text/index.ts';
import type { CommandTerminal } from '../../../core/command-line.ts';
import { inspectChanged } from '../../guard/commands/confirm.ts';
import type { SkillUpdate } from '../types.ts';
import { askAndApply, findingLines, type LettingOptions, refusedOf } from './blocked-skills.ts';

export async function update(
  ids: readonly string[],
  options: LettingOptions & { readonly check?: boolean },
  terminal: CommandTerminal,
): Promise<ExitStatus> {
  if (!options.check) terminal.assertCanAsk();
  const { registry } = await terminal.openRegistry(options);
  const looked = registry.origin.update(ids.length > 0 ? ids : undefined);
  const plan = await terminal.during('Looking for what is newer', looked);
  const outdated = plan.skills.filter(({ state }) => state === 'outdated');
  if (!options.json && plan.skills.length > 0) terminal.out(`${describe(plan.skills, terminal)}\n`);
  for (const { id, findings } of outdated)
    for (const line of findingLines(findings, ['block', 'warn', 'info'])) terminal.say(`${id}: ${line.trim()}`);
  for (const { id, files, diff } of options.check ? [] : outdated)
    if (diff !== '') terminal.say(`${id}, ${files.filter(({ change }) => change !== 'kept').length} file(s):\n${diff}`);
  terminal.say(`${plan.skills.length} skill(s) in skills-lock.json, ${outdated.length} outdated`);
  const isAsked = !options.check && outdated.length > 0;
  const wordsFor = (id: string) => ['update', id];
  const letting = { plan, skills: outdated, verb: 'Update', isAsked, wordsFor } as const;
  const { isMeant, changed: updated, refused } = await askAndApply(letting, options, terminal);
  terminal.print({ skills: plan.skills.map(toWire), updated: updated.map(toWire), refused });
  for (const { id, revision, proposals } of updated) {
    terminal.say(`${id} is updated, as revision ${revision}`);
    for (const proposal of proposals)
      terminal.say(`A conflict waits for you: skill-registry proposals edit ${proposal}`);
  }
  // Unchanged skills too: a newer rule may hold them.
  const known = new Set(plan.skills.map(({ id }) => id));
  await inspectChanged(registry, ({ id }) => known.has(id), terminal);
  const isWrong = plan.skills.some(({ state }) => state === 'absent' || state === 'failed');
  const isBlocked = options.check ? refusedOf(outdated, options).length > 0 : refused.length > 0;
  return isWrong || isBlocked || (isAsked && !isMeant) ? EXIT.problem : EXIT.done;
}

// --- internal ---

function describe(skills: readonly SkillUpdate[], { table }: CommandTerminal): string {
  const rows = skills.map(({ id, state, drifted, blocked, files, source, reason }) => {
    const changes = files.map(({ path, change }) => `${path} ${change}`).join(', ');
    const attack = blocked === undefined ? '' : ', looks like an attack';
    return [id, `${state}${drifted ? ', changed here' : ''}${attack}`, source, reason ?? changes];
  });
  return table(['SKILL', 'STATE', 'FROM', 'WHAT'], rows);
}
