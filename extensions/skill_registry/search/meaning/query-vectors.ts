import { asFailure, EmbeddingsFailure } from './embeddings-client.ts';

export interface QueryVectorsOptions {
  /** Asks the endpoint; rejects with an EmbeddingsFailure. */
  readonly ask: (text: string, signal: AbortSignal, limitMs: number) => Promise<Float32Array>;
  /** How long `ready` waits. */
  readonly budgetMs: number;
  /** The endpoint's address, for people. */
  readonly shownAs: string;
  readonly closing: AbortSignal;
  /** Told of a failure, and of undefined when a query was answered in time. */
  readonly onOutcome: (failure: EmbeddingsFailure | undefined) => void;
  /** The time in milliseconds. */
  readonly now: () => number;
}

const MAX_KEPT = 256;
/** An answer that comes late is good for the same query asked again; so long is waited for it. */
const MAX_LATE_MS = 10_000;
/** After a failure nothing is asked for so long, twice as long after the next, and so on. */
const FIRST_REST_MS = 10_000;
const MAX_REST_MS = 300_000;

/** The vectors of queries and prompts, as far as the endpoint gives them in time. */
export class QueryVectors {
  readonly #options: QueryVectorsOptions;
  /** Those heard of longest ago are first. */
  readonly #kept = new Map<string, Float32Array>();
  readonly #asked = new Map<string, Promise<boolean>>();
  #restUntil = 0;
  #restMs = FIRST_REST_MS;

  constructor(options: QueryVectorsOptions) {
    this.#options = options;
  }

  /** Asks for it unless it is known. Settles after the time budget at the latest, and never rejects. */
  async ready(text: string): Promise<void> {
    const { closing, now, budgetMs, shownAs, onOutcome } = this.#options;
    if (text === '' || this.#kept.has(text) || closing.aborted || now() < this.#restUntil) return;
    try {
      if (!(await within(this.#pending(text), budgetMs))) {
        const late = `${shownAs} gave no answer within ${budgetMs} ms.`;
        this.#fail(new EmbeddingsFailure(late, { code: 'EMBEDDINGS_FAILED', passing: true }));
        return;
      }
      this.#restMs = FIRST_REST_MS;
      onOutcome(undefined);
    } catch (error) {
      if (!closing.aborted) this.#fail(asFailure(error));
    }
  }

  /** Undefined when it is not known. */
  get(text: string): Float32Array | undefined {
    const vector = this.#kept.get(text);
    if (vector && this.#kept.delete(text)) this.#kept.set(text, vector);
    return vector;
  }

  #fail(failure: EmbeddingsFailure): void {
    const { now, onOutcome } = this.#options;
    this.#restUntil = now() + Math.max(this.#restMs, Math.min(failure.retryAfterMs ?? 0, MAX_REST_MS));
    this.#restMs = Math.min(this.#restMs * 2, MAX_REST_MS);
    onOutcome(failure);
  }

  #pending(text: string): Promise<boolean> {
    const running = this.#asked.get(text) ?? this.#askFor(text).finally(() => this.#asked.delete(text));
    this.#asked.set(text, running);
    // It may fail when nobody waits for it any more.
    running.catch(() => undefined);
    return running;
  }

  /** Whether it was answered; rejects when it was refused. */
  async #askFor(text: string): Promise<boolean> {
    const { ask, closing } = this.#options;
    this.#kept.set(text, await ask(text, closing, MAX_LATE_MS));
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return true;
  }
}

// --- internal ---

async function within(work: Promise<boolean>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
