import { createInterface, type Interface } from 'node:readline';

export type Completer = (line: string) => [string[], string];

/** Lines of one input, kept in order until somebody asks. Outlives the extension, which may be reloaded between two lines. */
export class LineReader {
  readonly #readline: Interface;
  readonly #waiting: string[] = [];
  #ended = false;
  #wake: () => void = () => {};
  /** Ends the question that waits for an answer. */
  #giveUp: AbortController | undefined;
  /** Replaced at each start of the extension. */
  completer: Completer = (line) => [[], line];
  onInterrupt: () => void = () => {};
  /** Told of each line the moment it is typed, and of the end with null; pipes are read ahead, so theirs are not told. */
  onTyped: (line: string | null) => void = () => {};

  constructor(input: NodeJS.ReadStream, output: NodeJS.WriteStream) {
    const terminal = Boolean(input.isTTY && output.isTTY);
    this.#readline = createInterface({
      input,
      output,
      terminal,
      prompt: '> ',
      completer: (line: string) => this.completer(line),
    });
    this.#readline.on('line', (line) => {
      this.#waiting.push(line);
      if (terminal) this.onTyped(line);
      this.#wake();
    });
    this.#readline.on('close', () => {
      this.#ended = true;
      this.#giveUp?.abort();
      if (terminal) this.onTyped(null);
      this.#wake();
    });
    this.#readline.on('SIGINT', () => {
      if (this.#giveUp) this.#giveUp.abort();
      else this.onInterrupt();
    });
  }

  /** The next line; null at the end of the input or when `signal` aborts. */
  async next(signal: AbortSignal): Promise<string | null> {
    while (!signal.aborted) {
      const line = this.#waiting.shift();
      if (line !== undefined) return line;
      if (this.#ended) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    return null;
  }

  /** Puts a line back that was not handled. */
  unread(line: string): void {
    this.#waiting.unshift(line);
  }

  /**
   * Asks for one line that is typed after the question; lines that were typed before stay lines.
   *
   * @returns undefined without a terminal, at the end of the input, on Ctrl-C, or when `signal` aborts.
   */
  async ask(question: string, signal: AbortSignal): Promise<string | undefined> {
    if (!this.#readline.terminal || this.#ended || signal.aborted) return undefined;
    const given = new AbortController();
    this.#giveUp = given;
    const until = AbortSignal.any([signal, given.signal]);
    try {
      return await new Promise((resolve) => {
        until.addEventListener('abort', () => resolve(undefined), { once: true });
        this.#readline.question(question, { signal: until }, resolve);
      });
    } finally {
      this.#giveUp = undefined;
    }
  }

  prompt(): void {
    if (this.#readline.terminal && !this.#ended) this.#readline.prompt();
  }

  resume(): void {
    if (!this.#ended) this.#readline.resume();
  }

  /** Lets the process end; lines that have arrived stay. */
  pause(): void {
    this.completer = (line) => [[], line];
    this.onInterrupt = () => {};
    this.onTyped = () => {};
    if (!this.#ended) this.#readline.pause();
  }
}

const readers = new WeakMap<NodeJS.ReadStream, LineReader>();

/** The one reader of an input. */
export function lineReaderOf(input: NodeJS.ReadStream, output: NodeJS.WriteStream): LineReader {
  const reader = readers.get(input) ?? new LineReader(input, output);
  readers.set(input, reader);
  return reader;
}
