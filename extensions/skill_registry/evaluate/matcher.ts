import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Matches regular expressions that somebody else wrote. */
export interface Matcher {
  /** Whether it matches somewhere in the text; a text says why that is not known. */
  matches(pattern: string, text: string): Promise<boolean | string>;
  close(): Promise<void>;
}

/** A pattern of a person takes a few milliseconds; one that was made to hang never ends. */
const MAX_MS = 2_000;
/** After this many slow patterns the others are not tried. */
const MAX_SLOW = 2;
const MAX_MEMORY_MB = 64;

/**
 * Patterns run in a thread that is ended when one takes too long: a regular expression of JavaScript cannot be interrupted where it
 * runs. The thread is started by the first pattern.
 */
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

/** Given as text, so that it runs from the sources and from a build alike. */
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
  // Also heard by `once`; without a listener an error would end the process.
  worker.on('error', () => undefined);
  return worker;
}
