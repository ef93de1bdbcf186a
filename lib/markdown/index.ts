import { once } from 'node:events';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Token } from 'marked';
import { abortAfter } from '../waiting/index.ts';

export interface MarkdownReader {
  /** @returns undefined when the text takes longer than a second or is nested too deeply. */
  read(text: string): Promise<readonly Token[] | undefined>;
  close(): void;
}

const MAX_MS = 1_000;

/** In a thread with a time limit: 16 KiB of `*__a` take the parser 17 s, and 16 KiB of `>` overflow its stack. */
export function createMarkdownReader(): MarkdownReader {
  let worker: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const end = (): void => {
    void worker?.terminate();
    worker = undefined;
  };
  const readNow = async (text: string): Promise<readonly Token[] | undefined> => {
    worker ??= start();
    const running = worker;
    // It keeps the process running only while it reads.
    running.ref();
    running.postMessage(text);
    try {
      const [tokens] = await once(running, 'message', { signal: abortAfter(MAX_MS) });
      return tokens as readonly Token[];
    } catch {
      end();
      return undefined;
    } finally {
      running.unref();
    }
  };
  return {
    read(text) {
      const next = last.then(() => readNow(text));
      last = next;
      return next;
    },
    close: end,
  };
}

// --- internal ---

function start(): Worker {
  const marked = pathToFileURL(createRequire(import.meta.url).resolve('marked')).href;
  const worker = new Worker(PROGRAM, {
    eval: true,
    workerData: marked,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });
  // An ended thread may still report an error.
  worker.on('error', () => undefined);
  // A read that waits for it ends.
  worker.once('exit', () => worker.emit('error', new Error('ended')));
  return worker;
}

const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const marked = import(workerData);
parentPort.on('message', async (text) => {
  const { Marked } = await marked;
  parentPort.postMessage([...new Marked().lexer(text)]);
});
`;
