import { CodedError } from 'skill-registry/kernel';
import {
  allHeld,
  approveExtension,
  assertHeldInRoot,
  describeHeld,
  extensionNotHeld,
  type HeldExtension,
  heldExtension,
  heldExtensions,
  listedExtensions,
  ownExtensionIds,
  recordExtensionDecision,
  revokeExtension,
  undoIfInterrupted,
} from '../../kernel/host.ts';
import { formatTable, forTerminal, printable } from '../../lib/text/index.ts';
import { findRoot, isTrusted } from '../find-root.ts';
import {
  actorOf,
  type DecisionOptions,
  EXIT,
  type ExitStatus,
  type GlobalOptions,
  isConfirmed,
  printJson,
  type Terminal,
  widthOf,
} from '../terminal.ts';

/**
 * `skill-registry extensions list`: nothing is started. With `--json`:
 * `{ extensions: [{ id, origin, version, dir, state, held: { digest, files, by } | null }], problems }`.
 */
export async function listExtensions(options: GlobalOptions, terminal: Terminal): Promise<ExitStatus> {
  const root = findRoot(options, terminal);
  const { extensions, problems: all } = await listedExtensions(root, isTrusted(root, options, terminal));
  // Held extensions that can be read are in the list.
  const problems = all.filter(({ code }) => code !== 'EXTENSION_HELD');
  if (options.json) printJson(terminal, { extensions, problems });
  else {
    const rows = extensions.map(({ id, version, origin, state, held }) => [
      id,
      version,
      origin,
      held ? `${state}; ${held.files} file(s) of ${held.by.join(', ')} wait` : state,
    ]);
    terminal.out(`${formatTable(['EXTENSION', 'VERSION', 'FROM', 'STATE'], rows, widthOf(terminal))}\n`);
  }
  for (const { severity, file, line, message } of problems)
    terminal.err(`${severity}: ${printable(file)}${line ? `:${line}` : ''}: ${printable(message)}\n`);
  return problems.some(({ severity }) => severity === 'error') ? EXIT.problem : EXIT.done;
}

/**
 * `skill-registry extensions show <name>`. With `--json`: `{ name, by, digest, files: [{ path, before, after }] }`, texts
 * decoded as UTF-8.
 */
export async function showExtension(name: string, options: GlobalOptions, terminal: Terminal): Promise<ExitStatus> {
  const held = waiting(rootOf(options, terminal), name);
  if (options.json) {
    const files = held.files.map(({ path, before, after }) => ({
      path,
      before: before?.toString('utf8') ?? null,
      after: after.toString('utf8'),
    }));
    printJson(terminal, { name, by: held.by, digest: held.digest, files });
  } else terminal.out(`${await describeHeld(held, ownExtensionIds())}\n`);
  return EXIT.done;
}

export interface ApproveExtensionOptions extends DecisionOptions {
  readonly digest?: string;
}

/** `skill-registry extensions approve <name>` */
export async function approve(
  name: string,
  options: GlobalOptions & ApproveExtensionOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const root = rootOf(options, terminal);
  const actor = actorOf(options, terminal);
  const trusted = isTrusted(root, options, terminal);
  undoIfInterrupted({ dir: root, trusted }, name);
  const digest = options.digest ?? (await digestOfYes(waiting(root, name), terminal));
  if (digest === undefined) {
    terminal.err(`extensions/${name} still waits\n`);
    return EXIT.problem;
  }
  const files = approveShownExtension(root, { name, digest }, actor, trusted, terminal);
  if (options.json) printJson(terminal, { name, digest, files });
  return EXIT.done;
}

/** Approves the files that were shown, and says it. @returns Their paths. */
export function approveShownExtension(
  root: string,
  { name, digest }: { readonly name: string; readonly digest: string },
  actor: ReturnType<typeof actorOf>,
  isTrustedRoot: boolean,
  { err }: Terminal,
): readonly string[] {
  const { paths, wasInEffect } = approveExtension({ dir: root, trusted: isTrustedRoot }, name, digest);
  recordExtensionDecision(root, name, { action: 'allow', digest, ...actor });
  const since = wasInEffect ? 'approved already, and in effect' : 'approved';
  err(`extensions/${name} is ${since}; the next start or restart loads it\n`);
  if (!isTrustedRoot) err(`Its root is not approved: skill-registry trust allow ${printable(root)}\n`);
  return paths;
}

/** What a person is asked about a held extension. */
export const EXTENSION_QUESTION = 'An extension runs as you and may do everything you may do. Approve it?';

/** `skill-registry extensions revoke <name>` */
export async function revoke(
  name: string,
  options: GlobalOptions & DecisionOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const root = rootOf(options, terminal);
  const actor = actorOf(options, terminal);
  const trusted = isTrusted(root, options, terminal);
  undoIfInterrupted({ dir: root, trusted }, name);
  const digest = allHeld(root).held.find((held) => held.name === name)?.digest ?? null;
  const folder = revokeExtension({ dir: root, trusted }, name);
  recordExtensionDecision(root, name, { action: 'revoke', digest, ...actor });
  if (options.json) printJson(terminal, { name, folder: folder ?? null });
  const what = folder === undefined ? 'Waiting files were deleted' : `The extension was moved to ${printable(folder)}`;
  terminal.err(`${what}\n`);
  return EXIT.done;
}

// --- internal ---

/** @throws PATH_TRAVERSAL when the root is not approved and its `data/` or `extensions/` is a link out of it. */
function rootOf(options: GlobalOptions, terminal: Terminal): string {
  const root = findRoot(options, terminal);
  if (!isTrusted(root, options, terminal)) assertHeldInRoot(root);
  return root;
}

function waiting(root: string, name: string): HeldExtension {
  const held = heldExtension(root, name);
  if (held) return held;
  throw extensionNotHeld(name, heldExtensions(root));
}

/** Shows the difference and asks. @returns Its digest when the answer is yes. */
async function digestOfYes(held: HeldExtension, terminal: Terminal): Promise<string | undefined> {
  if (!terminal.ask) {
    const message = `There is no terminal to ask at. See what waits with skill-registry extensions show ${held.name}, then give the digest that it prints: skill-registry extensions approve ${held.name} --digest <digest>`;
    throw new CodedError('INVALID_ARGUMENT', message);
  }
  terminal.err(`${forTerminal(await describeHeld(held, ownExtensionIds()), terminal, terminal.progress)}\n`);
  return (await isConfirmed({ ask: terminal.ask }, EXTENSION_QUESTION)) ? held.digest : undefined;
}
