import { setTimeout } from 'node:timers/promises';
import { RecentMap } from '../../../../lib/recent-map/index.ts';
import { backOff } from '../../../../lib/waiting/index.ts';
import { EmbeddingsFailure } from './embeddings-client.ts';

export interface QueryVectorsOptions {
  /** Rejects with an EmbeddingsFailure. */
  readonly ask: (text: string, limitMs: number) => Promise<Float32Array>;
  readonly timeoutMs: number;
  readonly shownAs: string;
  /** Called with a failure, and with undefined after an answer in time. */
  readonly onOutcome: (failure: EmbeddingsFailure | undefined) => void;
}

const MAX_KEPT = 256;
/** A request goes on after `timeoutMs`: a slow endpoint loads its model, and the next equal query needs the vector. */
const MAX_LATE_MS = 10_000;
/** After a failure no request is sent for this long. */
const PAUSES = { firstMs: 10_000, maxMs: 300_000 };

export class QueryVectors {
  readonly #options: QueryVectorsOptions;
  readonly #kept = new RecentMap<string, Float32Array>(MAX_KEPT);
  #failures = 0;
  #pausedUntil = 0;

  constructor(options: QueryVectorsOptions) {
    this.#options = options;
  }

  get(text: string): Float32Array | undefined {
    return this.#kept.get(text);
  }

  /** Takes at most `timeoutMs`; rejects only with unexpected errors of `ask`. */
  async ready(text: string): Promise<void> {
    if (text === '' || this.#kept.has(text) || Date.now() < this.#pausedUntil) return;
    const { ask, timeoutMs, shownAs, onOutcome } = this.#options;
    const late = new EmbeddingsFailure('EMBEDDINGS_FAILED', `${shownAs} gave no answer within ${timeoutMs} ms.`);
    const asked = ask(text, MAX_LATE_MS).then((vector) => void this.#kept.set(text, vector), asFailure);
    const failure = await Promise.race([asked, setTimeout(timeoutMs, late, { ref: false })]);
    this.#failures = failure ? this.#failures + 1 : 0;
    if (failure) {
      const requested = Math.min(failure.details.retryAfterMs ?? 0, PAUSES.maxMs);
      this.#pausedUntil = Date.now() + Math.max(backOff(this.#failures, PAUSES), requested);
    }
    onOutcome(failure);
  }
}

// --- internal ---

function asFailure(error: unknown): EmbeddingsFailure {
  if (error instanceof EmbeddingsFailure) return error;
  throw error;
}
