import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface Matcher {
  /** Whether it matches somewhere; a text says why this is unknown. */
  matches(pattern: string, text: string): Promise<boolean | string>;
  close(): Promise<void>;
}

/** A normal pattern takes milliseconds; a malicious one may never end. */
const MAX_MS = 2_000;
const MAX_SLOW = 2;
const MAX_MEMORY_MB = 64;

/** Only ending its thread interrupts a JavaScript regular expression. */
export function createMatcher(): Matcher {
  let worker: Worker | undefined;
  let slow = 0;
  const end = async (): Promise<void> => {
    await worker?.terminate();
    worker = undefined;
  };
  return {
    async matches(pattern, text) {
      if (slow >= MAX_SLOW)
        return `was not tried, because ${MAX_SLOW} patterns took more than ${MAX_MS / 1000} seconds each`;
      worker ??= startWorker();
      const signal = AbortSignal.timeout(MAX_MS);
      const answered = once(worker, 'message', { signal });
      worker.postMessage({ pattern, text });
      try {
        const [{ matched, failure }] = (await answered) as [{ matched?: boolean; failure?: string }];
        return matched ?? `is no regular expression (${failure})`;
      } catch {
        slow += 1;
        await end();
        return signal.aborted ? `took more than ${MAX_MS / 1000} seconds` : 'needs too much memory';
      }
    },
    close: end,
  };
}

// --- internal ---

/** A text runs both from the sources and from a build. */
const CODE = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', ({ pattern, text }) => {
  let failure;
  for (const flags of ['u', '']) {
    try {
      return parentPort.postMessage({ matched: new RegExp(pattern, flags).test(text) });
    } catch (error) {
      failure = String(error.message).slice(0, 200);
    }
  }
  parentPort.postMessage({ failure });
});`;

function startWorker(): Worker {
  const worker = new Worker(CODE, { eval: true, env: {}, resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB } });
  // Without a listener an error would end the process; `once` hears it too.
  worker.on('error', () => undefined);
  return worker;
}
