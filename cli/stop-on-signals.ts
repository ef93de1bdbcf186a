import { EXIT, type ExitStatus } from './terminal.ts';

/** How long the process may take to stop before it is ended, in milliseconds. A second signal ends it at once. */
const STOP_TIMEOUT_MS = 5_000;
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Aborts when the process gets SIGINT, SIGTERM or SIGHUP, or when nobody reads its standard output any more. */
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

/** Timers or connections that an extension or a source has left open must not keep the process running. */
export function exitSoon(status: ExitStatus): ExitStatus {
  setTimeout(() => process.exit(status), 200).unref();
  return status;
}
