import { lstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CodedError, describeError, isCodedError } from 'skill-registry/kernel';
import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { actorOf, EXIT, type ExitStatus, type Options } from '../../../../../lib/command-line/index.ts';
import { unifiedDiff } from '../../../../../lib/diff/index.ts';
import { plural } from '../../../../../lib/text/index.ts';
import type { CommandTerminal, DoctorPart, OpenRegistry } from '../../../core/command-line.ts';
import type { Skill } from '../../../core/skill/skill.ts';
import { sayHeld } from '../../guard/commands/confirm.ts';
import { type Repair, repairSkill } from '../repair.ts';

/** For `doctor --fix`. */
export async function repairAll(options: Options, terminal: CommandTerminal): Promise<ExitStatus> {
  const opened = await terminal.openRegistry(options);
  const { root, trusted, registry } = opened;
  const { say } = terminal;
  const actor = actorOf(options, terminal);
  if (!trusted) {
    const message = `Nobody has approved ${root}, so nothing is written in it. To approve it: skill-registry approvals allow ${root}`;
    throw new CodedError('ROOT_NOT_APPROVED', message, { root });
  }
  const fields = {};
  for (const { fix } of terminal.features) Object.assign(fields, await fix?.(opened, options, terminal));
  const repairs = await repairsOf(registry);
  for (const { skill, done, difference } of repairs) say(`${skill.qualifiedId}: ${done.join('; ')}\n${difference}`);
  if (repairs.length === 0) say('Nothing can be repaired in the skills of sources that may be written');
  else if (!(await terminal.agrees(`Write this into ${repairs.length} SKILL.md?`))) return EXIT.problem;
  const repaired = [];
  const failed = [];
  for (const { skill, text, done, difference } of repairs) {
    const named = { skill_id: skill.id, qualified_id: skill.qualifiedId };
    const reason = `${options.reason ?? 'doctor --fix'}: ${done.join('; ')}`;
    try {
      const { number } = await registry.admin.management.repair(skill.qualifiedId, text, { ...actor, reason });
      repaired.push({ ...named, revision: number, done, diff: difference });
    } catch (error) {
      const message = describeError(error);
      failed.push({ ...named, code: isCodedError(error) ? error.code : 'UNEXPECTED_FAILURE', message });
      say(`${skill.qualifiedId} was not written: ${message}`);
    }
  }
  if (repaired.length > 0) await registry.refresh();
  for (const { skill_id, qualified_id } of repaired)
    sayHeld(skill_id, (await registry.admin.trustOf(qualified_id)).heldBecause, terminal);
  terminal.print({ ...fields, repaired, failed });
  const left = failed.length > 0 ? `, ${failed.length} not` : '';
  const undo = `; to undo one: skill-registry history ${repairs[0]?.skill.id ?? '<id>'}, then rollback`;
  if (repairs.length > 0) say(`${plural(repaired.length, 'skill')} repaired${left}${repaired.length > 0 ? undo : ''}`);
  return failed.length > 0 ? EXIT.problem : EXIT.done;
}

declare module '../../../core/command-line.ts' {
  interface FeatureCommands {
    /** What `doctor --fix` does before its repairs. @returns fields for `--json`. */
    fix?(opened: OpenRegistry, options: Options, terminal: CommandTerminal): Promise<object>;
  }
}

/** For `doctor`. Nothing is written in an unapproved root, so it has no repairs. */
export async function repairable({ trusted, registry }: OpenRegistry, terminal: CommandTerminal): Promise<DoctorPart> {
  const repairs = trusted ? await terminal.during('Looking for repairs', repairsOf(registry)) : [];
  const remedy = `${plural(repairs.length, 'skill')} can be repaired; to see how, and be asked: skill-registry doctor --fix`;
  const fields = { repairable: repairs.map(({ skill }) => skill.qualifiedId) };
  return { order: 3, fields, ...(repairs.length > 0 && { remedy }) };
}

// --- internal ---

/** A skill whose SKILL.md the loader repairs at each read. */
interface PlannedRepair extends Repair {
  readonly skill: Skill;
  readonly difference: string;
}

/** Only for skills in writable sources. */
async function repairsOf({ admin, snapshot }: OpenRegistry['registry']): Promise<readonly PlannedRepair[]> {
  const planned = new Map<string, PlannedRepair>();
  const all = [...snapshot().byQualifiedId.values()];
  for (const [done, skill] of all.entries()) {
    await takeBreak(done, all.length);
    const { dir, realFile, qualifiedId } = skill;
    const file = basename(skill.file);
    // Several sources may have the same folder.
    if (dir === null || realFile === null || planned.has(realFile)) continue;
    if (admin.writePolicy(realFile)?.target === undefined) continue;
    const before = await admin.readBytes(qualifiedId, { countsAsLoad: false }).catch(() => new Uint8Array());
    const text = Buffer.from(before).toString('utf8');
    const repair = Buffer.from(text).equals(before) ? repairSkill(text, basename(dir), file) : undefined;
    if (!repair || (file !== 'SKILL.md' && !isNameFree(dir, file))) continue;
    const rename = file === 'SKILL.md' ? '' : `rename from ${file}\nrename to SKILL.md\n`;
    planned.set(realFile, { skill, ...repair, difference: rename + unifiedDiff('SKILL.md', text, repair.text) });
  }
  return [...planned.values()];
}

/** It is no link, and no other file has the name SKILL.md; on some systems both names are the same file. */
function isNameFree(dir: string, file: string): boolean {
  const [present, taken] = [file, 'SKILL.md'].map((name) => lstatSync(join(dir, name), { throwIfNoEntry: false }));
  const isFree = taken === undefined || (taken.ino === present?.ino && taken.dev === present.dev);
  return present?.isFile() === true && isFree;
}
