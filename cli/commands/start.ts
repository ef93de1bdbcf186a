import { findRoot, flagConfig } from '../find-root.ts';
import { EXIT, type ExitStatus, type GlobalOptions, type Terminal } from '../terminal.ts';

/** A second signal, or a stop that hangs, ends the process at once. */
const LAST_RESORT_MS = 5_000;

/** `skill-registry start`: returns when the person has left or a signal has come. */
export async function start(options: GlobalOptions, terminal: Terminal): Promise<ExitStatus> {
  const { boot, printable } = await import('skill-registry/kernel');
  const kernel = await boot({
    root: findRoot(options, terminal),
    config: { skill_registry: flagConfig(options, terminal) },
    environment: terminal.environment,
    onLog: ({ level, extensionId, message }) => {
      if (level === 'warn' || level === 'error') terminal.err(`${level}: ${extensionId}: ${printable(message)}\n`);
    },
  });
  const end = (): void => {
    process.once('SIGINT', () => process.exit(130));
    process.once('SIGTERM', () => process.exit(143));
    setTimeout(() => process.exit(EXIT.problem), LAST_RESORT_MS).unref();
    void kernel.shutdown();
  };
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  // An extension that forgets a promise does not take the others down.
  process.on('unhandledRejection', (reason) =>
    terminal.err(`error: unhandled rejection: ${printable(String(reason))}\n`),
  );

  const channel = kernel.extensions().find((extension) => extension.id === 'cli_channel');
  if (channel?.state !== 'RUNNING') {
    for (const { severity, message } of kernel.problems()) terminal.err(`${severity}: ${printable(message)}\n`);
    terminal.err(`The terminal channel is not running: ${channel?.reason ?? 'it was not found'}\n`);
    await kernel.shutdown();
    return EXIT.problem;
  }
  await kernel.stopped;
  for (const message of kernel.undelivered()) terminal.err(`${printable(message)}\n`);
  // What an extension has left running must not keep the process.
  setTimeout(() => process.exit(EXIT.done), 200).unref();
  return EXIT.done;
}
