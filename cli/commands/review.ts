import { declaredTurns, isHeldInRoot, undoApprovals } from '../../kernel/host.ts';
import { printable } from '../../lib/text/index.ts';
import { aborted } from '../../lib/waiting/index.ts';
import { openRegistry } from '../open-registry.ts';
import { stopOnSignals } from '../stop-on-signals.ts';
import { actorOf, EXIT, type ExitStatus, type GlobalOptions, printJson, type Terminal } from '../terminal.ts';

export interface ReviewPageOptions extends GlobalOptions {
  readonly port?: number;
  readonly as?: string;
}

/** `skill-registry review`: runs until the process gets a signal. With `--json`: `{ url }`. */
export async function review(options: ReviewPageOptions, terminal: Terminal): Promise<ExitStatus> {
  const printLine = (text: string): void => terminal.err(`${printable(text)}\n`);
  const { serveReview } = await import('../../extensions/skill_review/index.ts');
  const stop = stopOnSignals();
  const { by } = actorOf(options.as === undefined ? {} : { by: options.as }, terminal);
  const { root, trusted, registry, problems } = await openRegistry(options, terminal, true);
  if (trusted) undoApprovals(root);
  const important = problems().filter(({ severity, code }) => severity === 'error' || code === 'ROOT_NOT_APPROVED');
  for (const { severity, file, message } of important) printLine(`${severity}: ${file}: ${message}`);
  const watching = registry.watch(stop).catch((error: unknown) => printLine(`error: ${String(error)}`));
  try {
    const serving = await serveReview({
      ...{ registry, root, by, port: options.port ?? 0 },
      isTrusted: () => trusted,
      isHeldReadable: () => trusted || isHeldInRoot(root),
      agents: () => declaredTurns(root, trusted),
      onError: ({ message }) => printLine(`error: ${message}`),
    });
    if (options.json) printJson(terminal, { url: serving.url });
    else terminal.out(`${serving.url}\n`);
    printLine(`Open this address in a browser on this machine. Decisions are made as ${by}. Ctrl+C ends it.`);
    await aborted(stop);
    await serving.close();
  } finally {
    await registry.close();
    await watching;
  }
  // Timers or connections that a source has left open must not keep the process running.
  setTimeout(() => process.exit(EXIT.done), 200).unref();
  return EXIT.done;
}
