import { isUtf8 } from 'node:buffer';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { userStateDirectory } from '../../lib/trust/index.ts';

export type Completer = (line: string) => [string[], string];

/** Bytes of one line from a pipe. */
const MAX_LINE_BYTES = 1_048_576;
/** Lines that are read ahead from a pipe. */
const MAX_WAITING = 1_000;
/** Lines that were typed, and are kept for later starts. */
const MAX_KEPT = 1_000;
/** Characters of such a line: what is longer was pasted. */
const MAX_KEPT_CHARS = 2_000;
const NEWLINE = 0x0a;

/** The lines of one input, queued until they are read. It is kept when the extension is reloaded between two lines. */
export class LineReader {
  readonly #source: LineSource;
  readonly #waiting: string[] = [];
  #ended = false;
  #isPaused = false;
  #wake: () => void = () => {};
  /** Cancels the question that waits for an answer. */
  #question: AbortController | undefined;
  /** Replaced at each start of the extension. */
  completer: Completer = (line) => [[], line];
  onInterrupt: () => void = () => {};
  /** Called when a line is typed at a terminal, and with null at its end. Not called for a pipe. */
  onTyped: (line: string | null) => void = () => {};

  constructor(input: NodeJS.ReadStream, output: NodeJS.WriteStream) {
    const isTerminal = Boolean(input.isTTY && output.isTTY);
    const onLine = (line: string): void => {
      this.#waiting.push(line);
      if (isTerminal) this.onTyped(line);
      else if (this.#waiting.length >= MAX_WAITING) this.#source.pause();
      this.#wake();
    };
    const onEnd = (): void => {
      this.#ended = true;
      this.#question?.abort();
      if (isTerminal) this.onTyped(null);
      this.#wake();
    };
    const events = { onLine, onEnd };
    this.#source = isTerminal ? readTerminal(input, output, this, events) : readPipe(input, output, events);
  }

  /** The next line; null at the end of the input or when `signal` aborts. */
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

  /** Puts a line back to the beginning of the queue. */
  unread(line: string): void {
    this.#waiting.unshift(line);
  }

  /**
   * Asks for one line that is typed after the question. Text typed before is kept for the next prompt.
   *
   * @returns Undefined without a terminal, at the end of the input, on Ctrl-C, or when `signal` aborts.
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

  /** Ctrl-C: cancels the question that waits; without one, calls `onInterrupt`. */
  interrupt(): void {
    if (this.#question) this.#question.abort();
    else this.onInterrupt();
  }

  /** Clears what is typed at the prompt. @returns false when there is nothing. */
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

  /** Stops reading, so that the process can end. Lines in the queue are kept. */
  pause(): void {
    this.completer = (line) => [[], line];
    this.onInterrupt = () => {};
    this.onTyped = () => {};
    this.#isPaused = true;
    this.#source.leave?.();
    if (!this.#ended) this.#source.pause();
  }
}

const readers = new WeakMap<NodeJS.ReadStream, LineReader>();

export function lineReaderOf(input: NodeJS.ReadStream, output: NodeJS.WriteStream): LineReader {
  const reader = readers.get(input) ?? new LineReader(input, output);
  readers.set(input, reader);
  return reader;
}

// --- internal ---

interface LineSource {
  pause(): void;
  resume(): void;
  prompt(): void;
  // Those below are absent when the input is not a terminal.
  /** Clears what is typed. @returns false when there is nothing. */
  readonly clear?: () => boolean;
  /** Ends the line of a prompt that waits, so that the prompt of a shell begins a line. */
  readonly leave?: () => void;
  readonly ask?: (question: string, signal: AbortSignal, onAnswer: (line: string) => void) => void;
}

interface LineEvents {
  onLine(line: string): void;
  onEnd(): void;
}

function readTerminal(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  reader: LineReader,
  { onLine, onEnd }: LineEvents,
): LineSource {
  const completer = (line: string): [string[], string] => reader.completer(line);
  const history = { history: keptLines(), historySize: MAX_KEPT, removeHistoryDuplicates: true };
  const readline = createInterface({ input, output, terminal: true, prompt: '> ', completer, ...history });
  let isPrompted = false;
  let isAsking = false;
  readline.on('history', (lines: string[]) => {
    // An answer to a question is no line that somebody wants again.
    if (isAsking) lines.shift();
    else if (lines[0] !== undefined) keepLine(lines[0]);
  });
  readline.on('line', (line) => {
    isPrompted = false;
    onLine(line);
  });
  readline.on('close', onEnd);
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
      // Text that was typed before the question must not answer it: it is put back for the next prompt.
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
      // Runs after the listener of readline, which clears the line.
      signal.addEventListener('abort', putBack, { once: true });
    },
  };
}

/** In a file that only this user can read, in the folder for the state of this user and never in a root. */
const keptLinesFile = (): string => join(userStateDirectory(), 'typed-lines');

/** The lines that a person has typed in this start and those before, the last one first. */
function keptLines(): string[] {
  try {
    return readFileSync(keptLinesFile(), 'utf8').split('\n').filter(isKept).reverse().slice(0, MAX_KEPT);
  } catch {
    return [];
  }
}

function keepLine(line: string): void {
  if (!isKept(line)) return;
  // Read again, because another terminal may have added lines.
  const lines = keptLines();
  if (lines[0] === line) return;
  const file = keptLinesFile();
  try {
    mkdirSync(userStateDirectory(), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${[line, ...lines].slice(0, MAX_KEPT).reverse().join('\n')}\n`, { mode: 0o600 });
    chmodSync(file, 0o600);
  } catch {
    // Typing goes on where nothing can be kept, as on a full disk.
  }
}

/** As in a shell, a line that begins with a blank is not kept. */
function isKept(line: string): boolean {
  return line !== '' && !/^\s/.test(line) && line.length <= MAX_KEPT_CHARS;
}

/** Not with `readline`, which keeps a line of any length in memory. */
function readPipe(input: NodeJS.ReadStream, output: NodeJS.WriteStream, { onLine, onEnd }: LineEvents): LineSource {
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
    else onLine(line.toString('utf8').replace(/\r$/, ''));
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
    onEnd();
  });
  input.on('error', ({ message }) => {
    output.write(`Standard input cannot be read: ${message}\n`);
    onEnd();
  });
  return { pause: () => input.pause(), resume: () => input.resume(), prompt: () => {} };
}

const TOO_LONG = (bytes: number): string =>
  `it has ${bytes} bytes, and at most ${MAX_LINE_BYTES} are read. Put long text into a file.`;
const NOT_UTF8 = 'it is not UTF-8 text. Convert it, with iconv for example.';
