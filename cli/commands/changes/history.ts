import {
  describeBlockFindings,
  describeRevisions,
} from '../../../extensions/skill_registry/features/proposals/propose/describe.ts';
import { printable, toWire } from '../../../lib/text/index.ts';
import { sayHeld } from '../../held-text.ts';
import { openRegistry } from '../../open-registry.ts';
import {
  actorOf,
  blockNotConfirmed,
  EXIT,
  type ExitStatus,
  isConfirmed,
  type Options,
  type Terminal,
} from '../../terminal.ts';

export async function history(id: string, options: Options, terminal: Terminal): Promise<void> {
  const { registry } = await openRegistry(options, terminal, { checksArguments: false });
  const revisions = await registry.history.revisions(id);
  terminal.print({ skill_id: id, revisions: revisions.map(toWire) }, () =>
    describeRevisions(revisions, terminal.width),
  );
}

export async function diff(id: string, a: string, b: string, options: Options, terminal: Terminal): Promise<void> {
  const { registry } = await openRegistry(options, terminal, { checksArguments: false });
  const text = await registry.history.diff(id, a, b);
  if (options.json) terminal.print({ skill_id: id, a, b, diff: text });
  else terminal.write(text);
  if (text === '') terminal.say('There is no difference');
}

export async function rollback(id: string, wanted: string, options: Options, terminal: Terminal): Promise<ExitStatus> {
  const { registry } = await openRegistry(options, terminal);
  const actor = actorOf(options, terminal);
  const { byId, byQualifiedId } = registry.snapshot();
  // A removed skill: `rollback` throws, and its message says how to restore the skill.
  if (!byId.has(id) && !byQualifiedId.has(id)) await registry.history.rollback(id, wanted, actor);
  const change = { skillId: id, revision: wanted };
  const shown = await registry.admin.blockFindingsAfter(change);
  const { blocks, digest: inspected } = shown;
  const toWanted = (): Promise<string> => registry.history.diff(id, 'present', wanted);
  const attacked = blocks.length > 0 ? ((byId.get(id) ?? byQualifiedId.get(id))?.id ?? id) : undefined;
  const ask = options.yes ? undefined : terminal.ask;
  const question = `Roll ${printable(id)} back to revision ${printable(wanted)}?`;
  let difference = '';
  // Compares again after each yes, because somebody may have changed the files meanwhile.
  for (let now = await toWanted(); now !== difference; now = await toWanted()) {
    difference = now;
    if (now === '') break;
    terminal.say(difference);
    if (blocks.length > 0) terminal.say(`${describeBlockFindings(blocks)}\n`);
    if (attacked !== undefined && !ask)
      throw blockNotConfirmed('rolls it back', `skill-registry rollback ${printable(id)} ${printable(wanted)}`);
    if (ask && !(await isConfirmed({ ask }, question, attacked))) {
      terminal.say('Nothing was changed');
      return EXIT.problem;
    }
  }
  const revision = await registry.history.rollback(id, wanted, { ...actor, inspected });
  // Without a difference no findings were shown, so none are allowed.
  const seen = difference === '' ? { blocks: [], digest: null } : shown;
  const heldBecause = await registry.admin.allowShown(change, seen, actor);
  terminal.print({ ...toWire(revision), diff: difference });
  terminal.say(
    difference === ''
      ? `${id} has the content of revision ${wanted} already; nothing was changed`
      : `${id} has the content of revision ${wanted} again, as revision ${revision.number}. To undo it: skill-registry rollback ${id} ${revision.number - 1}`,
  );
  sayHeld(id, heldBecause, terminal);
  return EXIT.done;
}

/** Findings of level `block` are confirmed by typing the id. Shows what was changed by hand since the removal. */
export async function restore(id: string, options: Options, terminal: Terminal): Promise<ExitStatus> {
  const { ask, say } = terminal;
  const { registry } = await openRegistry(options, terminal);
  const actor = actorOf(options, terminal);
  const change = { restoredId: id };
  const shown = await registry.admin.blockFindingsAfter(change);
  const { blocks, digest: inspected } = shown;
  if (blocks.length > 0) {
    say(`${describeBlockFindings(blocks)}\n`);
    if (!ask) throw blockNotConfirmed('restores it', `skill-registry restore ${printable(id)}`);
    const question = `Restore ${printable(id)}?`;
    if (!(await isConfirmed({ ask }, question, id))) {
      say('Nothing was changed');
      return EXIT.problem;
    }
  }
  const revision = await registry.history.restore(id, { ...actor, inspected });
  const heldBecause = await registry.admin.allowShown(change, shown, actor);
  const changed = await registry.history.diff(id, Math.max(1, revision.number - 1), revision.number);
  if (changed !== '') say(changed);
  terminal.print(toWire(revision));
  say(`${id} is back, as revision ${revision.number}`);
  sayHeld(id, heldBecause, terminal);
  return EXIT.done;
}
