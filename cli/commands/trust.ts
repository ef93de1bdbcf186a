import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { CodedError } from 'skill-registry/kernel';
import type {
  CommandTerminal as Terminal,
  TrustAction,
  TrustOptions,
  TrustSubject,
} from '../../extensions/skill_registry/core/command-line.ts';
import { heldOfRoot } from '../../kernel/host.ts';
import {
  actorOf,
  EXIT,
  type ExitStatus,
  invalidArgument,
  isPath,
  minuteOf,
  nearestText,
  type Options,
} from '../../lib/command-line/index.ts';
import { futureRealPath } from '../../lib/files/index.ts';
import { nearestIds, plural } from '../../lib/text/index.ts';
import { describeSubject, isDecided, openTrust } from '../../lib/trust/index.ts';
import { findRoot } from '../find-root.ts';
import { extensionTrust } from './extensions.ts';

/** The same for `trust`, the older name, which knows no extensions. */
export async function list(options: Options, terminal: Terminal, command: Command): Promise<ExitStatus> {
  const { say } = terminal;
  const trust = openTrust();
  const [decisions, reason] = [trust.decisions(), trust.trouble()];
  const { registry, problems } = await terminal.openRegistry(options);
  const skills = [...registry.snapshot().byQualifiedId.values()].flatMap(({ id, qualifiedId, heldBecause, file }) =>
    heldBecause === undefined ? [] : [{ skill_id: id, qualified_id: qualifiedId, held_because: heldBecause, file }],
  );
  const ofRoot = problems().find(({ code }) => code === 'ROOT_NOT_APPROVED')?.details?.held;
  const root = Array.isArray(ofRoot) ? ofRoot.map(String) : [];
  const all = await subjectsOf(terminal, options, command);
  const subjects = await Promise.all(all.map((subject) => subject.list?.(registry)));
  const rows = decisions.map((one) => {
    const { action, at, by, path, reason: why = '' } = one;
    return [action === 'allow' ? 'allowed' : 'revoked', describeSubject(one), minuteOf(at), by, path, why];
  });
  const fields = Object.assign({}, ...subjects.map((one) => one?.fields));
  terminal.print({ file: trust.file, trouble: reason ?? null, decisions, held: { root, skills }, ...fields }, () =>
    terminal.table(['DECISION', 'WHAT', 'WHEN', 'WHO', 'WHERE', 'WHY'], rows),
  );
  say(`${plural(decisions.length, 'decision')} in ${trust.file}`);
  for (const what of root) say(`Without effect until its root is allowed: ${what}`);
  for (const line of subjects.flatMap((one) => one?.lines ?? [])) say(line);
  for (const { qualified_id, held_because } of skills) say(`Held: ${qualified_id}: ${held_because}`);
  if (reason === undefined) return EXIT.done;
  say(`This file is ignored, so nothing is approved: ${reason}`);
  return EXIT.problem;
}

export async function show(id: string, options: Options, terminal: Terminal, command: Command): Promise<ExitStatus> {
  for (const { show } of await subjectsOf(terminal, options, command)) {
    const status = await show(id, options, terminal);
    if (status !== undefined) return status;
  }
  throw await namesNothing(id, options, terminal);
}

export const allow: Decide = (...given) => decide('allow', ...given);
export const revoke: Decide = (...given) => decide('revoke', ...given);

// --- internal ---

type Decide = (
  given: string | undefined,
  options: TrustOptions,
  terminal: Terminal,
  command: Command,
) => Promise<ExitStatus>;

async function decide(
  action: TrustAction,
  ...[given, options, terminal, command]: Parameters<Decide>
): Promise<ExitStatus> {
  if (given === undefined) return decideRoot(action, given, options, terminal);
  for (const subject of await subjectsOf(terminal, options, command)) {
    const status = await subject.decide(action, given, options, terminal);
    if (status !== undefined) return status;
  }
  const path = resolve(terminal.cwd, given);
  // A root can be revoked after its folder was deleted.
  const isRoot = isPath(given) || existsSync(path) || (action === 'revoke' && isDecided('root', futureRealPath(path)));
  if (!isRoot) throw await namesNothing(given, options, terminal);
  return decideRoot(action, given, options, terminal);
}

async function subjectsOf(terminal: Terminal, options: Options, command?: Command): Promise<readonly TrustSubject[]> {
  const given = terminal.features.flatMap(({ trust }) => (trust ? [trust] : [])).toSorted(([a], [b]) => a - b);
  const extensions = command?.parent?.name() === 'approvals' ? [extensionTrust(options, terminal)] : [];
  return [...extensions, ...(await Promise.all(given.map(([, load]) => load())))];
}

function decideRoot(
  action: TrustAction,
  given: string | undefined,
  options: TrustOptions,
  terminal: Terminal,
): ExitStatus {
  if (given !== undefined && options.root !== undefined)
    throw invalidArgument('Give the root once: as the argument, or with --root.');
  if (options.digest !== undefined) throw invalidArgument('--digest is of a skill. A root is allowed without one.');
  const root =
    action === 'revoke' && given !== undefined
      ? resolve(terminal.cwd, given)
      : findRoot(given === undefined ? options : { ...options, root: given }, terminal);
  if (action === 'revoke') assertApproved(root);
  openTrust().decide({ action, kind: 'root', path: root, ...actorOf(options, terminal) });
  const held = action === 'allow' ? heldOfRoot(root) : [];
  terminal.print({ action, root, held });
  const what = action === 'allow' ? 'is approved' : 'is not approved any more';
  terminal.say(`${root} ${what}${held.length > 0 ? `: ${held.join('; ')}` : ''}`);
  return EXIT.done;
}

async function namesNothing(name: string, options: Options, terminal: Terminal): Promise<CodedError> {
  const { registry } = await terminal.openRegistry(options);
  // A broken lock must not hide the error about the name.
  const sources = (await subjectsOf(terminal, options)).map(
    async ({ names }) => (await names?.(registry).catch(() => [])) ?? [],
  );
  const folders = readdirSync(terminal.cwd, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const names = [
    ...registry.snapshot().byId.keys(),
    ...(await Promise.all(sources)).flat(),
    ...folders.map((folder) => folder.name),
  ];
  const nearest = nearestIds(new Set(names), name);
  return invalidArgument(
    `${JSON.stringify(name)} is no skill, no source and no folder here. Expected the id of a skill, a source (owner/repo, an address, npm:name) or the folder of a root.${nearestText(nearest)}`,
  );
}

/** A deleted root may be revoked: otherwise a new folder at that path would be approved. */
function assertApproved(root: string): void {
  const trust = openTrust();
  const path = futureRealPath(root);
  const last = trust.decisions().find(({ kind, path: of }) => kind === 'root' && of === path);
  // An ignored file of decisions: `decide` reports it.
  if (last?.action === 'allow' || trust.trouble() !== undefined) return;
  const message = `${root} is not approved, so nothing was revoked. skill-registry approvals list shows the roots that are.`;
  throw new CodedError('ROOT_NOT_APPROVED', message, { root });
}
