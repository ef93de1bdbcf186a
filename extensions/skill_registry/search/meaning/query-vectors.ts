import { backOff } from '../../../../lib/waiting/index.ts';
import { asFailure, EmbeddingsFailure } from './embeddings-client.ts';

export interface QueryVectorsOptions {
  /** Asks the endpoint; rejects with an EmbeddingsFailure. */
  readonly ask: (text: string, signal: AbortSignal, limitMs: number) => Promise<Float32Array>;
  /** How long `ready` waits. */
  readonly timeoutMs: number;
  /** The endpoint's address, for people. */
  readonly shownAs: string;
  readonly closing: AbortSignal;
  /** Told of a failure, and of undefined when a query was answered in time. */
  readonly onOutcome: (failure: EmbeddingsFailure | undefined) => void;
  /** The time in milliseconds. */
  readonly now: () => number;
}

const MAX_KEPT = 256;
/** A late answer is good for the same query asked again, and an endpoint that loads its model first goes on loading it. */
const MAX_LATE_MS = 10_000;
/** After a failure nothing is asked for so long. */
const PAUSES = { firstMs: 10_000, longestMs: 300_000 };

/** The vectors of queries and prompts, as far as the endpoint gives them in time. */
export class QueryVectors {
  readonly #options: QueryVectorsOptions;
  /** The one that was used longest ago is first. */
  readonly #kept = new Map<string, Float32Array>();
  #failures = 0;
  #pausedUntil = 0;

  constructor(options: QueryVectorsOptions) {
    this.#options = options;
  }

  /** Asks for it unless it is known. Settles after `timeoutMs` at the latest; rejects only for a defect of ours. */
  async ready(text: string): Promise<void> {
    const { ask, closing, now, timeoutMs, shownAs, onOutcome } = this.#options;
    if (text === '' || this.#kept.has(text) || closing.aborted || now() < this.#pausedUntil) return;
    let failure: EmbeddingsFailure | undefined;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const message = `${shownAs} gave no answer within ${timeoutMs} ms.`;
      timer = setTimeout(
        () => reject(new EmbeddingsFailure('EMBEDDINGS_FAILED', message, { passing: true })),
        timeoutMs,
      );
    });
    try {
      await Promise.race([ask(text, closing, MAX_LATE_MS).then((vector) => this.#keep(text, vector)), late]);
    } catch (error) {
      if (closing.aborted) return;
      failure = asFailure(error);
    } finally {
      clearTimeout(timer);
    }
    this.#failures = failure ? this.#failures + 1 : 0;
    if (failure) {
      const asked = Math.min(failure.retryAfterMs ?? 0, PAUSES.longestMs);
      this.#pausedUntil = now() + Math.max(backOff(this.#failures, PAUSES), asked);
    }
    onOutcome(failure);
  }

  /** Undefined when it is not known. */
  get(text: string): Float32Array | undefined {
    const vector = this.#kept.get(text);
    if (vector) this.#keep(text, vector);
    return vector;
  }

  #keep(text: string, vector: Float32Array): void {
    this.#kept.delete(text);
    this.#kept.set(text, vector);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}
