import {
  actorOf,
  EXIT,
  type ExitStatus,
  invalidArgument,
  type Options,
} from '../../../../../lib/command-line/index.ts';
import { formatTable, printable, toWire } from '../../../../../lib/text/index.ts';
import { type CommandTerminal, filePathOf, type ShowOptions } from '../../../core/command-line.ts';
import { blockNotConfirmed, isConfirmedWithId, sayHeld } from '../../guard/commands/confirm.ts';
import { describeBlockFindings } from '../../guard/describe.ts';
import type { Revision } from '../types.ts';

export async function history(id: string, options: Options, terminal: CommandTerminal): Promise<void> {
  const { registry } = await terminal.openRegistry(options, { checksArguments: false });
  const revisions = await registry.history.revisions(id);
  terminal.print({ skill_id: id, revisions: revisions.map(toWire) }, () =>
    revisions.length > 0 ? describeRevisions(revisions, terminal.width) : '',
  );
  if (revisions.length === 0) terminal.say(`No change of ${id} is recorded yet`);
}

export async function showRevision(
  id: string,
  options: ShowOptions & { readonly revision: string },
  terminal: CommandTerminal,
): Promise<ExitStatus> {
  const path = filePathOf(options);
  const { registry } = await terminal.openRegistry(options, { checksArguments: false });
  const bytes = await registry.history.read(id, options.revision, path);
  const text = Buffer.from(bytes).toString('utf8');
  if (options.json) terminal.print({ skill_id: id, revision: options.revision, content: text, size: bytes.length });
  else if (terminal.terminal) terminal.write(text.endsWith('\n') ? text : `${text}\n`);
  else terminal.out(bytes);
  return EXIT.done;
}

export async function diff(
  id: string,
  a: string,
  b: string,
  options: Options,
  terminal: CommandTerminal,
): Promise<void> {
  const { registry } = await terminal.openRegistry(options, { checksArguments: false });
  const text = await registry.history.diff(id, a, b);
  if (options.json) terminal.print({ skill_id: id, a, b, diff: text });
  else terminal.write(text);
  if (text === '') terminal.say('There is no difference');
}

export async function rollback(
  id: string,
  wanted: string | undefined,
  options: Options,
  terminal: CommandTerminal,
): Promise<ExitStatus> {
  const { registry } = await terminal.openRegistry(options);
  const actor = actorOf(options, terminal);
  const { byId, byQualifiedId } = registry.snapshot();
  const known = byId.get(id) ?? byQualifiedId.get(id);
  if (wanted === undefined) {
    if (known === undefined) return restore(id, options, terminal);
    throw invalidArgument(
      `Which revision of ${id}? skill-registry history ${id} lists them; only a removed skill needs none.`,
    );
  }
  // A removed skill: `rollback` throws, and its message says how to restore the skill.
  if (!byId.has(id) && !byQualifiedId.has(id)) await registry.history.rollback(id, wanted, actor);
  const change = { skillId: id, revision: wanted };
  const shown = await registry.admin.blockFindingsAfter(change);
  const { blocks, digest: inspected } = shown;
  const toWanted = (): Promise<string> => registry.history.diff(id, 'present', wanted);
  const attacked = blocks.length > 0 ? (known?.id ?? id) : undefined;
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
    if (ask && !(await isConfirmedWithId({ ask }, question, attacked))) {
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
export async function restore(id: string, options: Options, terminal: CommandTerminal): Promise<ExitStatus> {
  const { ask, say } = terminal;
  const { registry } = await terminal.openRegistry(options);
  const actor = actorOf(options, terminal);
  const change = { restoredId: id };
  const shown = await registry.admin.blockFindingsAfter(change);
  const { blocks, digest: inspected } = shown;
  if (blocks.length > 0) {
    say(`${describeBlockFindings(blocks)}\n`);
    if (!ask) throw blockNotConfirmed('restores it', `skill-registry rollback ${printable(id)}`);
    const question = `Restore ${printable(id)}?`;
    if (!(await isConfirmedWithId({ ask }, question, id))) {
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

/** Newest first. @param width - Columns of the terminal; a narrow table has fewer columns and no time. */
export function describeRevisions(revisions: readonly Revision[], width?: number): string {
  const isNarrow = width !== undefined && width < WIDE;
  const rows = [...revisions].reverse().map(({ number, at, by, kind, digest, reason, proposal }) => [
    number,
    at.slice(0, isNarrow ? 10 : width === undefined ? 19 : 16).replace('T', ' '),
    kind,
    by,
    ...(isNarrow ? [] : [digest.slice(7, 15)]),
    // A window cuts the end of the text, so a person's words come first.
    width === undefined
      ? [proposal, reason].filter(Boolean).join(': ')
      : [reason, proposal && `(${proposal})`].filter(Boolean).join(' '),
  ]);
  const names = [isNarrow ? 'REV' : 'REVISION', 'WHEN', 'WHAT', 'BY', ...(isNarrow ? [] : ['DIGEST']), 'WHY'];
  return formatTable(names, rows, width);
}

// --- internal ---

const WIDE = 80;
