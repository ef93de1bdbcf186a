import type { CommandTerminal as Terminal } from '../../extensions/skill_registry/core/command-line.ts';
import { declaredTurns, isHeldInRoot, undoApprovals } from '../../kernel/host.ts';
import { actorOf, EXIT, type ExitStatus, type Options } from '../../lib/command-line/index.ts';
import { aborted } from '../../lib/waiting/index.ts';
import { exitSoon, stopOnSignals } from '../stop-on-signals.ts';

export async function review(
  options: Options & { readonly as?: string; readonly port?: number },
  terminal: Terminal,
): Promise<ExitStatus> {
  const { serveReview } = await import('../../extensions/skill_review/index.ts');
  const stop = stopOnSignals();
  const { by } = actorOf(options.as === undefined ? {} : { by: options.as }, terminal);
  const { root, trusted, registry, problems } = await terminal.openRegistry(options);
  if (trusted) undoApprovals(root);
  for (const problem of problems())
    if (problem.severity === 'error' || problem.code === 'ROOT_NOT_APPROVED') terminal.sayProblem(problem);
  const watching = registry.watch(stop).catch((error: unknown) => terminal.say(`error: ${String(error)}`));
  try {
    const serving = await serveReview({
      registry,
      root,
      by,
      port: options.port ?? 0,
      isTrusted: () => trusted,
      isHeldReadable: () => trusted || isHeldInRoot(root),
      agents: () => declaredTurns(root, trusted, registry.admin.agents()),
      onError: ({ message }) => terminal.say(`error: ${message}`),
    });
    terminal.print({ url: serving.url }, () => serving.url);
    terminal.say(`Open this address in a browser on this machine. Decisions are made as ${by}. Ctrl+C ends it.`);
    await aborted(stop);
    await serving.close();
  } finally {
    await registry.close();
    await watching;
  }
  return exitSoon(EXIT.done);
}
