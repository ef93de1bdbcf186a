import { EXIT, type ExitStatus } from '../lib/command-line/index.ts';

/** After this time the process ends by force. A second signal ends it at once. */
const STOP_TIMEOUT_MS = 5_000;
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Aborts on SIGINT, SIGTERM or SIGHUP, and when the reader of standard output closes it. */
export function stopOnSignals(): AbortSignal {
  const stop = new AbortController();
  const end = (): void => {
    setTimeout(() => process.exit(EXIT.problem), STOP_TIMEOUT_MS).unref();
    stop.abort();
  };
  for (const [signal, status] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(status);
      end();
    });
  }
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE' && !stop.signal.aborted) end();
  });
  return stop.signal;
}

/** Ends the process although an extension or a source left timers or connections open. */
export function exitSoon(status: ExitStatus): ExitStatus {
  setTimeout(() => process.exit(status), 200).unref();
  return status;
}
