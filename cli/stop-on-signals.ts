import { EXIT } from './terminal.ts';

/** A second signal, or a stop that hangs, ends the process at once. */
const LAST_RESORT_MS = 5_000;
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Aborts when the process is asked to end. */
export function stopOnSignals(): AbortSignal {
  const stop = new AbortController();
  for (const [signal, status] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(status);
      setTimeout(() => process.exit(EXIT.problem), LAST_RESORT_MS).unref();
      stop.abort();
    });
  }
  return stop.signal;
}
