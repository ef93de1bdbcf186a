import type { Kernel } from 'skill-registry/kernel';
import type { CommandTerminal as Terminal } from '../../extensions/skill_registry/core/command-line.ts';
import { presetSources } from '../../extensions/skill_registry/host.ts';
import { heldOfRoot, isOwnCheckout } from '../../kernel/host.ts';
import { actorOf, EXIT, type ExitStatus, isConfirmed, type Options } from '../../lib/command-line/index.ts';
import { openTrust } from '../../lib/trust/index.ts';
import { findRoot, flagConfig, hasExtensions, isTrusted, takesPresets } from '../find-root.ts';
import { exitSoon, stopOnSignals } from '../stop-on-signals.ts';

/** Returns after the person quits, or after a signal. `EXIT.problem` when a line of a pipe failed. */
export async function start(
  options: Options & { readonly enable?: readonly string[] },
  terminal: Terminal,
): Promise<ExitStatus> {
  const { boot } = await import('skill-registry/kernel');
  const root = findRoot(options, terminal);
  const { say } = terminal;
  const trust = isTrusted(root, options, terminal) || (await approvedNow(root, terminal));
  // What a person keeps for all projects is not for the code of one project, nor for whom an extension may serve.
  const runsOwn = trust && hasExtensions(root) && !isOwnCheckout(root);
  const takes = !options.enable && takesPresets(root, options, terminal);
  const sources = takes && presetSources(runsOwn ? 'project' : 'all');
  const config = { skill_registry: { ...(sources && { sources }), ...flagConfig(options, terminal) } };
  const enable = ['cli_channel', ...(options.enable ?? [])];
  const stop = stopOnSignals();
  let kernel: Kernel | undefined;
  // A rejected promise or a timer of an extension must not end the process.
  const reportUncaught = (error: unknown): void => say(`error: ${describeUncaught(error, kernel)}`);
  process.on('unhandledRejection', reportUncaught);
  process.on('uncaughtException', reportUncaught);

  const given = { root, trust, config, environment: terminal.environment, enable, signal: stop };
  const booting = boot({
    ...given,
    onLog: ({ level, extensionId, message }) => {
      if (level === 'warn' || level === 'error') say(`${level}: ${extensionId}: ${message}`);
    },
  });
  kernel = await terminal.during('Starting', booting);
  const channel = kernel.extensions().find((extension) => extension.id === 'cli_channel');
  if (channel?.state !== 'RUNNING' && !stop.aborted) {
    for (const { severity, message } of kernel.problems()) say(`${severity}: ${message}`);
    say(`The terminal channel is not running: ${channel?.reason ?? 'it was not found'}`);
    await kernel.shutdown();
    return EXIT.problem;
  }
  await kernel.stopped;
  for (const message of kernel.undelivered()) say(message);
  return exitSoon(process.exitCode === EXIT.problem ? EXIT.problem : EXIT.done);
}

// --- internal ---

/** Asks only when something in the root needs trust. Records a yes. */
async function approvedNow(root: string, terminal: Terminal): Promise<boolean> {
  const held = heldOfRoot(root);
  if (held.length === 0 || !terminal.ask) return false;
  terminal.say(
    `${root} has ${held.join('; ')}.\nThis can run as you and do everything you may do. Without a yes it has no effect.`,
  );
  if (!(await isConfirmed({ ask: terminal.ask }, 'Do you trust this root?'))) return false;
  openTrust().decide({ action: 'allow', kind: 'root', path: root, by: actorOf({}, terminal).by });
  return true;
}

function describeUncaught(error: unknown, kernel: Kernel | undefined): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const extension = kernel?.extensions().find(({ dir }) => stack.includes(`${dir}/`));
  return `${extension ? `extension "${extension.id}"` : 'something'} failed outside of any call: ${stack}`;
}
