import { EmbeddingsFailure } from './embeddings-client.ts';

/** The vectors of queries and prompts, as far as the endpoint gives them in time. */
export interface QueryVectors {
  /** Asks for it unless it is known. Settles after the time budget at the latest, and never rejects. */
  ready(text: string): Promise<void>;
  /** Undefined when it is not known. */
  get(text: string): Float32Array | undefined;
}

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

export function createQueryVectors({
  ask,
  budgetMs,
  shownAs,
  closing,
  onOutcome,
  now,
}: QueryVectorsOptions): QueryVectors {
  /** Those heard of longest ago are first. */
  const kept = new Map<string, Float32Array>();
  const asked = new Map<string, Promise<boolean>>();
  let [restUntil, restMs] = [0, FIRST_REST_MS];

  const fail = (failure: EmbeddingsFailure): void => {
    restUntil = now() + Math.max(restMs, Math.min(failure.retryAfterMs ?? 0, MAX_REST_MS));
    restMs = Math.min(restMs * 2, MAX_REST_MS);
    onOutcome(failure);
  };
  /** Whether it was answered; rejects when it was refused. */
  const askFor = async (text: string): Promise<boolean> => {
    const vector = await ask(text, closing, MAX_LATE_MS);
    kept.set(text, vector);
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return true;
  };
  const pending = (text: string): Promise<boolean> => {
    const running = asked.get(text) ?? askFor(text).finally(() => asked.delete(text));
    asked.set(text, running);
    // It may fail when nobody waits for it any more.
    running.catch(() => undefined);
    return running;
  };

  return {
    async ready(text) {
      if (text === '' || kept.has(text) || closing.aborted || now() < restUntil) return;
      try {
        if (await within(pending(text), budgetMs)) {
          restMs = FIRST_REST_MS;
          onOutcome(undefined);
        } else
          fail(
            new EmbeddingsFailure(`${shownAs} gave no answer within ${budgetMs} ms.`, {
              code: 'EMBEDDINGS_FAILED',
              passing: true,
            }),
          );
      } catch (error) {
        if (!closing.aborted) fail(asFailure(error));
      }
    },
    get(text) {
      const vector = kept.get(text);
      if (vector && kept.delete(text)) kept.set(text, vector);
      return vector;
    },
  };
}

/** What was thrown, as a failure to be told of; a defect of ours is not hidden. */
export function asFailure(error: unknown): EmbeddingsFailure {
  if (error instanceof EmbeddingsFailure) return error;
  throw error;
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
