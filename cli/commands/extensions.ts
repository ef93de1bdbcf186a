import type {
  CommandTerminal as Terminal,
  TrustOptions,
  TrustSubject,
} from '../../extensions/skill_registry/core/command-line.ts';
import {
  allHeld,
  approveShownExtension,
  assertHeldInRoot,
  describeHeld,
  EXTENSION_QUESTION,
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
import { actorOf, EXIT, type ExitStatus, type Options } from '../../lib/command-line/index.ts';
import { findRoot, isTrusted } from '../find-root.ts';

/** Starts no extension. */
export async function listExtensions(options: Options, terminal: Terminal): Promise<ExitStatus> {
  const { extensions, problems } = await listOf(options, terminal);
  const rows = extensions.map(({ id, version, origin, state, held }) => [
    id,
    version,
    origin,
    held ? `${state}; files of ${held.by.join(', ')} wait (${held.files})` : state,
  ]);
  terminal.print({ extensions, problems }, () => terminal.table(['EXTENSION', 'VERSION', 'FROM', 'STATE'], rows));
  for (const problem of problems) terminal.sayProblem(problem);
  return problems.some(({ severity }) => severity === 'error') ? EXIT.problem : EXIT.done;
}

export async function showExtension(name: string, options: Options, terminal: Terminal): Promise<void> {
  const held = waiting(rootOf(options, terminal).dir, name);
  if (!options.json) return terminal.out(`${await describeHeld(held, ownExtensionIds())}\n`);
  const files = held.files.map(({ path, before, after }) => ({
    path,
    before: before?.toString('utf8') ?? null,
    after: after.toString('utf8'),
  }));
  terminal.print({ name, by: held.by, digest: held.digest, files });
}

export async function approve(name: string, options: TrustOptions, terminal: Terminal): Promise<ExitStatus> {
  const root = rootOf(options, terminal);
  const actor = actorOf(options, terminal);
  undoIfInterrupted(root, name);
  const digest = options.digest ?? (await digestOfYes(waiting(root.dir, name), terminal));
  if (digest === undefined) {
    terminal.say(`extensions/${name} still waits`);
    return EXIT.problem;
  }
  terminal.print({ name, digest, files: approveShownExtension(root, { name, digest }, actor, terminal) });
  return EXIT.done;
}

export async function revoke(name: string, options: Options, terminal: Terminal): Promise<void> {
  const root = rootOf(options, terminal);
  const actor = actorOf(options, terminal);
  undoIfInterrupted(root, name);
  const digest = allHeld(root.dir).held.find((held) => held.name === name)?.digest ?? null;
  const folder = revokeExtension(root, name);
  recordExtensionDecision(root.dir, name, { action: 'revoke', digest, ...actor });
  terminal.print({ name, folder: folder ?? null });
  terminal.say(folder === undefined ? 'Waiting files were deleted' : `The extension was moved to ${folder}`);
}

/** For `approvals`, where an extension is called `extensions/<name>`. */
export function extensionTrust(options: Options, terminal: Terminal): TrustSubject {
  const nameOf = (what: string): string | undefined => /^extensions\/([^/]+)\/?$/.exec(what)?.[1];
  return {
    async list() {
      const held = heldExtensions(findRoot(options, terminal));
      const lines = held.map(({ name }) => `Held: extensions/${name}: agents wrote it, and nobody has approved it`);
      return { fields: { extensions: (await listOf(options, terminal)).extensions }, lines };
    },
    async show(what) {
      const name = nameOf(what);
      if (name === undefined) return undefined;
      await showExtension(name, options, terminal);
      return EXIT.done;
    },
    async decide(action, what, given) {
      const name = nameOf(what);
      if (name === undefined) return undefined;
      if (action === 'allow') return approve(name, given, terminal);
      await revoke(name, given, terminal);
      return EXIT.done;
    },
  };
}

// --- internal ---

async function listOf(options: Options, terminal: Terminal) {
  const root = findRoot(options, terminal);
  const { extensions, problems } = await listedExtensions(root, isTrusted(root, options, terminal));
  // The list names the held extensions.
  return { extensions, problems: problems.filter(({ code }) => code !== 'EXTENSION_HELD') };
}

type Root = Parameters<typeof approveShownExtension>[0];

/** @throws PATH_TRAVERSAL when the root is not approved and its `data/` or `extensions/` links out of it. */
function rootOf(options: Options, terminal: Terminal): Root {
  const dir = findRoot(options, terminal);
  const trusted = isTrusted(dir, options, terminal);
  if (!trusted) assertHeldInRoot(dir);
  return { dir, trusted };
}

function waiting(root: string, name: string): HeldExtension {
  const held = heldExtension(root, name);
  if (held) return held;
  throw extensionNotHeld(name, heldExtensions(root));
}

async function digestOfYes(held: HeldExtension, { agreesTo }: Terminal): Promise<string | undefined> {
  const { name, digest } = held;
  const see = `what waits with skill-registry approvals show extensions/${name}`;
  const shown = await describeHeld(held, ownExtensionIds());
  return (await agreesTo(shown, EXTENSION_QUESTION, see, `approvals allow extensions/${name}`)) ? digest : undefined;
}
