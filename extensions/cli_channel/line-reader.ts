import { isUtf8 } from 'node:buffer';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Completer, createInterface } from 'node:readline';
import { withFallback } from '../../lib/errors/index.ts';
import { userStateDirectory } from '../../lib/trust/index.ts';

/** Per line from a pipe. */
const MAX_LINE_BYTES = 1_048_576;
/** Queued lines above which a pipe is paused. */
const MAX_WAITING = 1_000;
const MAX_KEPT = 1_000;
/** Per kept line: longer text was pasted. */
const MAX_KEPT_CHARS = 2_000;
const NEWLINE = 0x0a;

/** Queues the lines of one input until they are read. A reload of the extension keeps the queue. */
export class LineReader {
  readonly #source: LineSource;
  readonly #waiting: string[] = [];
  #ended = false;
  #isPaused = false;
  #wake: () => void = () => {};
  #question: AbortController | undefined;
  /** Replaced at each start of the extension. */
  completer: Completer = (line) => [[], line];
  onInterrupt: () => void = () => {};
  /** For a terminal only: called with each typed line, and with null at the end of the input. */
  onTyped: (line: string | null) => void = () => {};

  constructor(input: NodeJS.ReadStream, output: NodeJS.WriteStream) {
    this.#source = (input.isTTY && output.isTTY ? readTerminal : readPipe)(input, output, this);
  }

  receive(line: string): void {
    this.#waiting.push(line);
    if (this.#source.ask) this.onTyped(line);
    else if (this.#waiting.length >= MAX_WAITING) this.#source.pause();
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#question?.abort();
    if (this.#source.ask) this.onTyped(null);
    this.#wake();
  }

  /** Null at the end of the input or when `signal` aborts. */
  async next(signal: AbortSignal): Promise<string | null> {
    while (!signal.aborted) {
      const line = this.#waiting.shift();
      if (this.#waiting.length < MAX_WAITING && !this.#isPaused) this.#source.resume();
      if (line !== undefined) return line;
      if (this.#ended) return null;
      await new Promise<void>((resolve) => {
        this.#wake = () => {
          signal.removeEventListener('abort', this.#wake);
          resolve();
        };
        signal.addEventListener('abort', this.#wake);
      });
    }
    return null;
  }

  unread(line: string): void {
    this.#waiting.unshift(line);
  }

  /**
   * Keeps text typed before the question for the next prompt.
   * @returns undefined without a terminal, at the end of the input, on Ctrl-C, or when `signal` aborts
   */
  async ask(question: string, signal: AbortSignal): Promise<string | undefined> {
    const { ask } = this.#source;
    if (!ask || this.#ended || signal.aborted) return undefined;
    const given = new AbortController();
    this.#question = given;
    const until = AbortSignal.any([signal, given.signal]);
    try {
      return await new Promise((resolve) => {
        until.addEventListener('abort', () => resolve(undefined), { once: true });
        ask(question, until, resolve);
      });
    } finally {
      this.#question = undefined;
    }
  }

  /** Ctrl-C: cancels the waiting question, else calls `onInterrupt`. */
  interrupt(): void {
    if (this.#question) this.#question.abort();
    else this.onInterrupt();
  }

  /** Returns false when nothing was typed. */
  clearLine(): boolean {
    return this.#source.clear?.() ?? false;
  }

  prompt(): void {
    if (!this.#ended) this.#source.prompt();
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.#ended) this.#source.resume();
  }

  /** Stops reading, so that the process can end. Keeps the queue. */
  pause(): void {
    this.completer = (line) => [[], line];
    this.onInterrupt = () => {};
    this.onTyped = () => {};
    this.#isPaused = true;
    this.#source.leave?.();
    if (!this.#ended) this.#source.pause();
  }
}

// --- internal ---

interface LineSource {
  pause(): void;
  resume(): void;
  prompt(): void;
  // Only for a terminal:
  readonly clear?: () => boolean;
  /** Ends the line of the prompt, so that the prompt of the shell starts a new line. */
  readonly leave?: () => void;
  readonly ask?: (question: string, signal: AbortSignal, onAnswer: (line: string) => void) => void;
}

function readTerminal(input: NodeJS.ReadStream, output: NodeJS.WriteStream, reader: LineReader): LineSource {
  const completer: Completer = (line) => reader.completer(line);
  const history = { history: keptLines(), historySize: MAX_KEPT, removeHistoryDuplicates: true };
  const readline = createInterface({ input, output, terminal: true, prompt: '> ', completer, ...history });
  let isPrompted = false;
  let isAsking = false;
  readline.on('history', (lines: string[]) => {
    if (isAsking) lines.shift();
    else if (lines[0] !== undefined) keepLine(lines[0]);
  });
  readline.on('line', (line) => {
    isPrompted = false;
    reader.receive(line);
  });
  readline.on('close', () => reader.end());
  readline.on('SIGINT', () => reader.interrupt());
  return {
    pause: () => readline.pause(),
    resume: () => readline.resume(),
    prompt() {
      isPrompted = true;
      readline.prompt(true);
    },
    clear() {
      if (readline.line === '') return false;
      output.write('^C\n');
      Object.assign(readline, { line: '', cursor: 0 });
      readline.prompt();
      return true;
    },
    leave() {
      if (isPrompted) output.write('\n');
      isPrompted = false;
    },
    ask(question, signal, onAnswer) {
      // Earlier text must not answer the question: it returns at the next prompt.
      const { line, cursor } = readline;
      const putBack = (): void => void Object.assign(readline, { line, cursor });
      Object.assign(readline, { line: '', cursor: 0 });
      isAsking = true;
      signal.addEventListener('abort', () => (isAsking = false), { once: true });
      readline.question(question, { signal }, (answer) => {
        isAsking = false;
        signal.removeEventListener('abort', putBack);
        putBack();
        onAnswer(answer);
      });
      // Must run after the listener of readline, which clears the line.
      signal.addEventListener('abort', putBack, { once: true });
    },
  };
}

/** In the user's state folder, never in a root. Only this user can read it. */
const keptLinesFile = (): string => join(userStateDirectory(), 'typed-lines');

function keptLines(): string[] {
  const text = withFallback(() => readFileSync(keptLinesFile(), 'utf8'), '');
  return text.split('\n').filter(isKept).reverse().slice(0, MAX_KEPT);
}

function keepLine(line: string): void {
  if (!isKept(line)) return;
  // Reads the file again, because another terminal may have added lines.
  const lines = keptLines();
  if (lines[0] === line) return;
  const file = keptLinesFile();
  try {
    mkdirSync(userStateDirectory(), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${[line, ...lines].slice(0, MAX_KEPT).reverse().join('\n')}\n`, { mode: 0o600 });
    chmodSync(file, 0o600);
  } catch {
    // Typing must work even when nothing can be kept, for example on a full disk.
  }
}

/** Like a shell, does not keep lines that begin with a blank. */
function isKept(line: string): boolean {
  return line !== '' && !/^\s/.test(line) && line.length <= MAX_KEPT_CHARS;
}

/** `readline` would keep a line of any length in memory. */
function readPipe(input: NodeJS.ReadStream, output: NodeJS.WriteStream, reader: LineReader): LineSource {
  let chunks: Buffer[] = [];
  let bytes = 0;
  const add = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes <= MAX_LINE_BYTES) chunks.push(chunk);
    else chunks = [];
  };
  const endLine = (): void => {
    const line = Buffer.concat(chunks);
    const refusal = bytes > MAX_LINE_BYTES ? TOO_LONG(bytes) : isUtf8(line) ? undefined : NOT_UTF8;
    [chunks, bytes] = [[], 0];
    if (refusal) output.write(`A line was not used: ${refusal}\n`);
    else reader.receive(line.toString('utf8').replace(/\r$/, ''));
  };
  input.on('data', (chunk: Buffer) => {
    for (let start = 0; start < chunk.length; ) {
      const end = chunk.indexOf(NEWLINE, start);
      add(chunk.subarray(start, end < 0 ? chunk.length : end));
      start = end < 0 ? chunk.length : end + 1;
      if (end >= 0) endLine();
    }
  });
  input.on('end', () => {
    if (bytes > 0) endLine();
    reader.end();
  });
  input.on('error', ({ message }) => {
    output.write(`Standard input cannot be read: ${message}\n`);
    reader.end();
  });
  return { pause: () => input.pause(), resume: () => input.resume(), prompt: () => {} };
}

const TOO_LONG = (bytes: number): string =>
  `it has ${bytes} bytes, and at most ${MAX_LINE_BYTES} are read. Put long text into a file.`;
const NOT_UTF8 = 'it is not UTF-8 text. Convert it, with iconv for example.';
