import type { Kernel } from 'skill-registry/kernel';
import { heldOfRoot } from '../../kernel/host.ts';
import { printable } from '../../lib/text/index.ts';
import { openTrust } from '../../lib/trust/index.ts';
import { findRoot, flagConfig, isTrusted } from '../find-root.ts';
import { stopOnSignals } from '../stop-on-signals.ts';
import { actorOf, EXIT, type ExitStatus, type GlobalOptions, type Terminal, withProgress } from '../terminal.ts';

export interface StartOptions extends GlobalOptions {
  /** Ids of extensions to start although their manifest says `enabled: false`. */
  readonly enable?: readonly string[];
}

/** `skill-registry start`: returns when the person has quit, or after a signal. EXIT.problem when a line of a pipe failed. */
export async function start(options: StartOptions, terminal: Terminal): Promise<ExitStatus> {
  const { boot } = await import('skill-registry/kernel');
  const root = findRoot(options, terminal);
  const config = { skill_registry: flagConfig(options, terminal) };
  const printLine = (text: string): void => terminal.err(`${printable(text)}\n`);
  const trust = isTrusted(root, options, terminal) || (await approvedNow(root, terminal));
  const enable = ['cli_channel', ...(options.enable ?? [])];
  const stop = stopOnSignals();
  let kernel: Kernel | undefined;
  // An unhandled rejection of an extension, or a throw in a timer, must not end the process.
  const reportUncaught = (error: unknown): void => printLine(`error: ${originOf(error, kernel)}${stackOf(error)}`);
  process.on('unhandledRejection', reportUncaught);
  process.on('uncaughtException', reportUncaught);

  const booting = boot({
    root,
    trust,
    config,
    environment: terminal.environment,
    enable,
    signal: stop,
    onLog: ({ level, extensionId, message }) => {
      if (level === 'warn' || level === 'error') printLine(`${level}: ${extensionId}: ${message}`);
    },
  });
  kernel = await withProgress('Starting', terminal, booting);
  const channel = kernel.extensions().find((extension) => extension.id === 'cli_channel');
  if (channel?.state !== 'RUNNING' && !stop.aborted) {
    for (const { severity, message } of kernel.problems()) printLine(`${severity}: ${message}`);
    printLine(`The terminal channel is not running: ${channel?.reason ?? 'it was not found'}`);
    await kernel.shutdown();
    return EXIT.problem;
  }
  await kernel.stopped;
  for (const message of kernel.undelivered()) printLine(message);
  // Timers or connections that an extension has left open must not keep the process running.
  const status = process.exitCode === EXIT.problem ? EXIT.problem : EXIT.done;
  setTimeout(() => process.exit(status), 200).unref();
  return status;
}

// --- internal ---

/** Asks whether the root is trusted, when something in it needs that, and records a yes. */
async function approvedNow(root: string, terminal: Terminal): Promise<boolean> {
  const held = heldOfRoot(root);
  if (held.length === 0 || !terminal.ask) return false;
  terminal.err(
    `${printable(root)} has ${printable(held.join('; '))}.\nThis can run as you and do everything you may do. Without a yes it has no effect.\n`,
  );
  const answer = await terminal.ask('Do you trust this root? [y/N] ');
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) return false;
  openTrust().decide({ action: 'allow', kind: 'root', path: root, by: actorOf({}, terminal).by });
  return true;
}

/** The extension whose files are in the stack. */
function originOf(error: unknown, kernel: Kernel | undefined): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const extension = kernel?.extensions().find(({ dir }) => stack.includes(`${dir}/`));
  return extension
    ? `extension "${extension.id}" failed outside of any call: `
    : 'something failed outside of any call: ';
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
