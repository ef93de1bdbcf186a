import { CodedError, describeError, isCodedError } from 'skill-registry/kernel';
import { repairsOf } from '../../../extensions/skill_registry/host.ts';
import { sayHeld } from '../../held-text.ts';
import type { OpenRegistry } from '../../open-registry.ts';
import { actorOf, EXIT, type ExitStatus, type Options, type Terminal } from '../../terminal.ts';

export async function repairAll(
  { root, trusted, registry }: OpenRegistry,
  options: Options,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { say } = terminal;
  const actor = actorOf(options, terminal);
  terminal.assertCanAsk();
  if (!trusted) {
    const message = `Nobody has approved ${root}, so nothing is written in it. To approve it: skill-registry trust allow ${root}`;
    throw new CodedError('ROOT_NOT_APPROVED', message, { root });
  }
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
  terminal.print({ repaired, failed });
  const left = failed.length > 0 ? `, ${failed.length} not` : '';
  const undo = `; to undo one: skill-registry history ${repairs[0]?.skill.id ?? '<id>'}, then rollback`;
  if (repairs.length > 0) say(`${repaired.length} skill(s) repaired${left}${repaired.length > 0 ? undo : ''}`);
  return failed.length > 0 ? EXIT.problem : EXIT.done;
}
