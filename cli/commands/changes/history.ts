import { isDeepStrictEqual } from 'node:util';
import { CodedError } from 'skill-registry/kernel';
import { describeBlockFindings, describeRevisions } from '../../../extensions/skill_registry/propose/describe.ts';
import { printable, toWire } from '../../../lib/text/index.ts';
import { heldText } from '../../held-text.ts';
import { openRegistry } from '../../open-registry.ts';
import {
  actorOf,
  blockNotConfirmed,
  type ConfirmedOptions,
  type DecisionOptions,
  EXIT,
  type ExitStatus,
  type GlobalOptions,
  isConfirmed,
  printJson,
  type Terminal,
  widthOf,
} from '../../terminal.ts';

/** `skill-registry history <id>`. With `--json`: `{ skill_id, revisions: [Revision] }`, oldest first. */
export async function history(id: string, options: GlobalOptions, terminal: Terminal): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const revisions = await registry.history.revisions(id);
  if (options.json) printJson(terminal, { skill_id: id, revisions: revisions.map(toWire) });
  else terminal.out(`${describeRevisions(revisions, widthOf(terminal))}\n`);
  return EXIT.done;
}

/** `skill-registry diff <id> <a> <b>`: empty when they are equal. With `--json`: `{ skill_id, a, b, diff }`. */
export async function diff(
  id: string,
  a: string,
  b: string,
  options: GlobalOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const text = await registry.history.diff(id, a, b);
  if (options.json) printJson(terminal, { skill_id: id, a, b, diff: text });
  else terminal.out(terminal.terminal ? printable(text) : text);
  if (text === '') terminal.err('There is no difference\n');
  return EXIT.done;
}

/** `skill-registry rollback <id> <revision>`. Shows the difference; on a terminal it asks. With `--json`: the new revision and `diff`. */
export async function rollback(
  id: string,
  wanted: string,
  options: GlobalOptions & ConfirmedOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const actor = actorOf(options, terminal);
  const { byId, byQualifiedId } = registry.snapshot();
  // Of a removed skill nothing is shown or asked: this throws, and says how it is restored.
  if (!byId.has(id) && !byQualifiedId.has(id)) await registry.history.rollback(id, wanted, actor);
  const blocks = await registry.admin.blockFindingsAfter({ skillId: id, revision: wanted });
  const toWanted = (): Promise<string> => registry.history.diff(id, 'present', wanted);
  const attacked = blocks.length > 0 ? ((byId.get(id) ?? byQualifiedId.get(id))?.id ?? id) : undefined;
  const ask = options.yes ? undefined : terminal.ask;
  const question = `Roll ${printable(id)} back to revision ${printable(wanted)}?`;
  let difference = '';
  // Once more after a yes: somebody may have changed the files meanwhile.
  for (let now = await toWanted(); now !== difference; now = await toWanted()) {
    difference = now;
    if (now === '') break;
    terminal.err(`${printable(difference)}\n`);
    if (blocks.length > 0) terminal.err(`${describeBlockFindings(blocks)}\n\n`);
    if (attacked !== undefined && !ask)
      throw blockNotConfirmed('rolls it back', `skill-registry rollback ${printable(id)} ${printable(wanted)}`);
    if (ask && !(await isConfirmed({ ask }, question, attacked))) {
      terminal.err('Nothing was changed\n');
      return EXIT.problem;
    }
  }
  const revision = await registry.history.rollback(id, wanted, actor);
  // Where nothing changes, nothing was shown.
  const heldBecause = await registry.admin.allowShown(id, difference === '' ? [] : blocks, actor);
  if (options.json) printJson(terminal, { ...toWire(revision), diff: difference });
  const name = printable(id);
  terminal.err(
    difference === ''
      ? `${name} has the content of revision ${printable(wanted)} already; nothing was changed\n`
      : `${name} has the content of revision ${printable(wanted)} again, as revision ${revision.number}. To undo it: skill-registry rollback ${name} ${revision.number - 1}\n`,
  );
  if (heldBecause !== null) terminal.err(heldText(id, heldBecause));
  return EXIT.done;
}

/** `skill-registry restore <id>`. With an attack in it, it asks for the id. Shows what was changed by hand since the skill was removed. With `--json`: the new revision. */
export async function restore(
  id: string,
  options: GlobalOptions & DecisionOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const actor = actorOf(options, terminal);
  const blocks = await registry.admin.blockFindingsAfter({ restoredId: id });
  if (blocks.length > 0) {
    terminal.err(`${describeBlockFindings(blocks)}\n\n`);
    if (!terminal.ask) throw blockNotConfirmed('restores it', `skill-registry restore ${printable(id)}`);
    const question = `Restore ${printable(id)}?`;
    if (!(await isConfirmed({ ask: terminal.ask }, question, id))) {
      terminal.err('Nothing was changed\n');
      return EXIT.problem;
    }
    if (!isDeepStrictEqual(await registry.admin.blockFindingsAfter({ restoredId: id }), blocks))
      throw new CodedError(
        'SHOWN_CHANGED',
        `What an inspection finds in "${id}" has changed since it was shown. Nothing was changed. Restore it again to see it.`,
      );
  }
  const revision = await registry.history.restore(id, actor);
  const heldBecause = await registry.admin.allowShown(id, blocks, actor);
  const changed = await registry.history.diff(id, Math.max(1, revision.number - 1), revision.number);
  if (changed !== '') terminal.err(`${printable(changed)}\n`);
  if (options.json) printJson(terminal, toWire(revision));
  terminal.err(`${printable(id)} is back, as revision ${revision.number}\n`);
  if (heldBecause !== null) terminal.err(heldText(id, heldBecause));
  return EXIT.done;
}
