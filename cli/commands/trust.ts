import { resolve } from 'node:path';
import { CodedError } from 'skill-registry/kernel';
import { heldOfRoot } from '../../kernel/host.ts';
import { futureRealPath } from '../../lib/files/index.ts';
import { formatTable, printable } from '../../lib/text/index.ts';
import { type Decision, openTrust, type Trust } from '../../lib/trust/index.ts';
import { findRoot } from '../find-root.ts';
import { actorOf, EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal, widthOf } from '../terminal.ts';

/** `skill-registry trust list`. With `--json`: `{ file, trouble: string | null, decisions: [Decision] }`. */
export function listTrust(options: GlobalOptions, terminal: Terminal): ExitStatus {
  const trust = openTrust();
  const [decisions, reason] = [trust.decisions(), trust.trouble()];
  if (options.json) printJson(terminal, { file: trust.file, trouble: reason ?? null, decisions });
  else if (decisions.length > 0) {
    const rows = decisions.map(({ action, kind, path, at, by }) => [action, kind, at.slice(0, 16), by, path]);
    terminal.out(`${formatTable(['DECISION', 'WHAT', 'WHEN', 'WHO', 'FOLDER'], rows, widthOf(terminal))}\n`);
  }
  terminal.err(`${decisions.length} decision(s) in ${printable(trust.file)}\n`);
  if (reason === undefined) return EXIT.done;
  terminal.err(`This file is ignored, so nothing is approved: ${reason}\n`);
  return EXIT.problem;
}

/** `skill-registry trust allow|revoke [root]` */
export function decideTrust(
  action: Decision['action'],
  given: string | undefined,
  options: GlobalOptions,
  terminal: Terminal,
): ExitStatus {
  if (given !== undefined && options.root !== undefined)
    throw new CodedError('INVALID_ARGUMENT', 'Give the root once: as the argument, or with --root.');
  const root =
    action === 'revoke' && given !== undefined
      ? resolve(terminal.cwd, given)
      : findRoot(given === undefined ? options : { ...options, root: given }, terminal);
  const trust = openTrust();
  if (action === 'revoke') assertApproved(trust, root);
  trust.decide({ action, kind: 'root', path: root, by: actorOf({}, terminal).by });
  const held = action === 'allow' ? heldOfRoot(root) : [];
  if (options.json) printJson(terminal, { action, root, held });
  const what = action === 'allow' ? 'is approved' : 'is not approved any more';
  terminal.err(`${printable(root)} ${what}${held.length > 0 ? `: ${printable(held.join('; '))}` : ''}\n`);
  return EXIT.done;
}

// --- internal ---

/** A root that was moved or removed may be revoked: it would be approved again when a folder of that name is there. */
function assertApproved(trust: Trust, root: string): void {
  const path = futureRealPath(root);
  const last = trust.decisions().find((decision) => decision.path === path);
  // A file that is ignored is what `decide` complains about.
  if (last?.action === 'allow' || trust.trouble() !== undefined) return;
  const message = `${root} is not approved, so nothing was revoked. skill-registry trust list shows the roots that are.`;
  throw new CodedError('ROOT_NOT_APPROVED', message, { root });
}
