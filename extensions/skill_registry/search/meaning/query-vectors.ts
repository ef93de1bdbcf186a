import { backOff } from '../../../../lib/waiting/index.ts';
import { EmbeddingsFailure } from './embeddings-client.ts';

export interface QueryVectorsOptions {
  /** Asks the endpoint; rejects with an EmbeddingsFailure. */
  readonly ask: (text: string, limitMs: number) => Promise<Float32Array>;
  /** How long `ready` waits. */
  readonly timeoutMs: number;
  /** The endpoint's address, for people. */
  readonly shownAs: string;
  /** Told of a failure, and of undefined when a query was answered in time. */
  readonly onOutcome: (failure: EmbeddingsFailure | undefined) => void;
}

const MAX_KEPT = 256;
/** A late answer is good for the same query asked again, and an endpoint that loads its model first goes on loading it. */
const MAX_LATE_MS = 10_000;
/** How long nothing is asked for after a failure. */
const PAUSES = { firstMs: 10_000, longestMs: 300_000 };

/** The vectors of queries and prompts, as far as the endpoint gives them in time. */
export class QueryVectors {
  readonly #options: QueryVectorsOptions;
  /** The oldest first. */
  readonly #kept = new Map<string, Float32Array>();
  #failures = 0;
  #pausedUntil = 0;

  constructor(options: QueryVectorsOptions) {
    this.#options = options;
  }

  /** Undefined when it is not known. */
  get(text: string): Float32Array | undefined {
    return this.#kept.get(text);
  }

  /** Asks for it unless it is known. Settles after `timeoutMs` at the latest; rejects with what `ask` should not. */
  async ready(text: string): Promise<void> {
    if (text === '' || this.#kept.has(text) || Date.now() < this.#pausedUntil) return;
    const { ask, timeoutMs, shownAs, onOutcome } = this.#options;
    const late = `${shownAs} gave no answer within ${timeoutMs} ms.`;
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<EmbeddingsFailure>((resolve) => {
      timer = setTimeout(() => resolve(new EmbeddingsFailure('EMBEDDINGS_FAILED', late)), timeoutMs);
    });
    const asked = ask(text, MAX_LATE_MS).then((vector) => this.#keep(text, vector), asFailure);
    const failure = await Promise.race([asked, tooLate]).finally(() => clearTimeout(timer));
    this.#failures = failure ? this.#failures + 1 : 0;
    if (failure) {
      const wanted = Math.min(failure.details.retryAfterMs ?? 0, PAUSES.longestMs);
      this.#pausedUntil = Date.now() + Math.max(backOff(this.#failures, PAUSES), wanted);
    }
    onOutcome(failure);
  }

  #keep(text: string, vector: Float32Array): undefined {
    this.#kept.set(text, vector);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}

// --- internal ---

function asFailure(error: unknown): EmbeddingsFailure {
  if (error instanceof EmbeddingsFailure) return error;
  throw error;
}
