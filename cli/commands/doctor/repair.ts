import { CodedError, describeError, isCodedError } from 'skill-registry/kernel';
import { type PlannedRepair, repairsOf } from '../../../extensions/skill_registry/host.ts';
import { forTerminal, printable } from '../../../lib/text/index.ts';
import { heldText } from '../../held-text.ts';
import { openRegistry } from '../../open-registry.ts';
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
} from '../../terminal.ts';

/**
 * `skill-registry doctor --fix`: shows what would be written, asks, and writes it, a revision for each skill. With `--json`: `{
 * repaired: [{ skill_id, qualified_id, revision, done: [string], diff }], failed: [{ skill_id, qualified_id, code, message }] }`.
 */
export async function repairAll(options: GlobalOptions & ConfirmedOptions, terminal: Terminal): Promise<ExitStatus> {
  const actor = actorOf(options, terminal);
  assertCanAsk(options, terminal);
  const { root, trusted, registry } = await openRegistry(options, terminal);
  if (!trusted) throw notApproved(root);
  const repairs = await repairsOf(registry);
  for (const { skill, done, difference } of repairs) {
    const text = printable(`${skill.qualifiedId}: ${done.join('; ')}\n${difference}`);
    terminal.err(`${forTerminal(text, terminal, terminal.progress)}\n`);
  }
  if (repairs.length === 0) terminal.err('Nothing can be repaired in the skills of sources that may be written\n');
  else if (!(await isConfirmedOrYes(`Write this into ${repairs.length} SKILL.md?`, options, terminal)))
    return EXIT.problem;
  const repaired = [];
  const failed = [];
  const { repair } = registry.admin.management;
  for (const planned of repairs) {
    const { skill, text, done, difference } = planned;
    const named = { skill_id: skill.id, qualified_id: skill.qualifiedId };
    const reason = `${options.reason ?? 'doctor --fix'}: ${done.join('; ')}`;
    try {
      const { number } = await repair(skill.qualifiedId, text, { ...actor, reason });
      repaired.push({ ...named, revision: number, done, diff: difference });
    } catch (error) {
      failed.push({
        ...named,
        code: isCodedError(error) ? error.code : 'UNEXPECTED_FAILURE',
        message: describeError(error),
      });
      terminal.err(`${printable(`${skill.qualifiedId} was not written: ${describeError(error)}`)}\n`);
    }
  }
  if (repaired.length > 0) await registry.refresh();
  for (const { skill_id, qualified_id } of repaired) {
    const heldBecause = await registry.admin.allowShown(qualified_id, [], actor);
    if (heldBecause !== null) terminal.err(heldText(skill_id, heldBecause));
  }
  if (options.json) printJson(terminal, { repaired, failed });
  if (repairs.length > 0) terminal.err(`${summary(repaired.length, failed.length, repairs)}\n`);
  await registry.close();
  return failed.length > 0 ? EXIT.problem : EXIT.done;
}

// --- internal ---

function summary(repaired: number, failed: number, [first]: readonly PlannedRepair[]): string {
  const left = failed > 0 ? `, ${failed} not` : '';
  const undo = `to undo one: skill-registry history ${printable(first?.skill.id ?? '<id>')}, then rollback`;
  return `${repaired} skill(s) repaired${left}${repaired > 0 ? `; ${undo}` : ''}`;
}

function notApproved(root: string): CodedError<'ROOT_NOT_APPROVED'> {
  const message = `Nobody has approved ${root}, so nothing is written in it. To approve it: skill-registry trust allow ${root}`;
  return new CodedError('ROOT_NOT_APPROVED', message, { root });
}
