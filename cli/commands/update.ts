import type { SkillUpdate } from '../../extensions/skill_registry/host.ts';
import { formatTable, printable, toWire } from '../../lib/text/index.ts';
import { appliedOrRefused, askAbout, commandAgain, type LettingOptions, refusedOf } from '../blocked-skills.ts';
import { findingLines } from '../finding-lines.ts';
import { printHeld } from '../held-text.ts';
import { openRegistry } from '../open-registry.ts';
import {
  actorOf,
  assertCanAsk,
  EXIT,
  type ExitStatus,
  type GlobalOptions,
  printJson,
  type Terminal,
  widthOf,
  withProgress,
} from '../terminal.ts';

export interface UpdateFlags extends LettingOptions {
  readonly check?: boolean;
}

/** `skill-registry update [id...]`. With `--json`: `{ skills: [SkillUpdate], updated: [ChangedSkill], refused: [RefusedSkill] }`. */
export async function update(
  ids: readonly string[],
  options: GlobalOptions & UpdateFlags,
  terminal: Terminal,
): Promise<ExitStatus> {
  if (!options.check) assertCanAsk(options, terminal);
  const { registry } = await openRegistry(options, terminal);
  const looked = registry.origin.update(ids.length > 0 ? ids : undefined);
  const plan = await withProgress('Looking for what is newer', terminal, looked);
  const outdated = plan.skills.filter(({ state }) => state === 'outdated');
  if (!options.json && plan.skills.length > 0) terminal.out(`${describe(plan.skills, terminal)}\n`);
  for (const { id, findings } of outdated)
    for (const line of findingLines(findings, ['block', 'warn', 'info']))
      terminal.err(`${printable(id)}: ${line.trim()}\n`);
  if (!options.check)
    for (const { id, files, diff } of outdated.filter((one) => one.diff !== ''))
      terminal.err(
        `${printable(id)}, ${files.filter(({ change }) => change !== 'kept').length} file(s):\n${printable(diff)}\n`,
      );
  terminal.err(`${plan.skills.length} skill(s) in skills-lock.json, ${outdated.length} outdated\n`);
  const isAsked = !options.check && outdated.length > 0;
  const answer = isAsked ? await askAbout('Update', outdated, options, terminal) : undefined;
  const applying = answer?.isMeant ? plan.apply(actorOf(options, terminal), answer.options) : Promise.resolve([]);
  const { changed: updated, refused } = await appliedOrRefused(
    withProgress('Updating', terminal, applying),
    (id) => commandAgain(['update', id], options),
    terminal,
  );
  if (options.json) printJson(terminal, { skills: plan.skills.map(toWire), updated: updated.map(toWire), refused });
  for (const { id, revision, proposals } of updated) {
    terminal.err(`${printable(id)} is updated, as revision ${revision}\n`);
    for (const proposal of proposals)
      terminal.err(`A conflict waits for you: skill-registry proposals edit ${printable(proposal)}\n`);
  }
  // Also those that are as they were: a later rule may hold them.
  const known = new Set(plan.skills.map(({ id }) => id));
  await printHeld(registry, ({ id }) => known.has(id), terminal);
  await registry.close();
  const isWrong = plan.skills.some(({ state }) => state === 'absent' || state === 'failed');
  const isBlocked = options.check ? refusedOf(outdated, options).length > 0 : refused.length > 0;
  return isWrong || isBlocked || (isAsked && !answer?.isMeant) ? EXIT.problem : EXIT.done;
}

// --- internal ---

function describe(skills: readonly SkillUpdate[], terminal: Terminal): string {
  const rows = skills.map(({ id, state, drifted, blocked, files, source, reason }) => {
    const changes = files.map(({ path, change }) => `${path} ${change}`).join(', ');
    const attack = blocked === undefined ? '' : ', looks like an attack';
    return [id, `${state}${drifted ? ', changed here' : ''}${attack}`, source, reason ?? changes];
  });
  return formatTable(['SKILL', 'STATE', 'FROM', 'WHAT'], rows, widthOf(terminal));
}
