import { backOff } from '../../../../lib/waiting/index.ts';
import type { Skill } from '../../skill/skill.ts';
import { bodyIfThere, documentKey } from '../document.ts';
import { CONTROL_TEXTS, controlKey, embeddedText } from './embedding-text.ts';
import { EmbeddingsFailure } from './embeddings-client.ts';
import type { VectorStore } from './vector-store.ts';

export interface EmbeddingRunOptions {
  readonly store: VectorStore;
  /** One request; rejects with an EmbeddingsFailure. */
  readonly ask: (texts: readonly string[], signal: AbortSignal, limitMs: number) => Promise<readonly Float32Array[]>;
  /** The bytes of SKILL.md; may throw. */
  readonly readSkill: (skill: Skill) => Buffer;
  /** At most this many texts in one request. */
  readonly batch: number;
  readonly signal: AbortSignal;
  /** Maximum number of attempts for one request. */
  readonly attempts: number;
  readonly wait: (ms: number) => Promise<void>;
  readonly onProgress: (line: string) => void;
  /** Called with a failure that is final or was repeated, and with undefined after each successful request. */
  readonly onOutcome: (failure: EmbeddingsFailure | undefined) => void;
}

/** Timeout of one request; an endpoint on a small machine is slow. */
const REQUEST_MS = 60_000;
/** Maximum size of the texts in one request, in UTF-16 code units. */
const MAX_CHARACTERS = 65_536;
/** Delays between attempts. */
const WAITS = { firstMs: 1000, longestMs: 60_000, jitter: true };
/** The number of the first failure in a row that is reported; a single failure is usually followed by a success. */
const REPORTED_FROM = 2;
const PROGRESS_AFTER_MS = 1000;
const PROGRESS_EVERY_MS = 2000;

/**
 * Embeds skills and control texts that have no vector, in batches one after the other. Repeats requests after temporary failures.
 *
 * @returns the number of added vectors; undefined when some are missing, because `signal` aborted or a request failed (see
 *   `onOutcome`).
 */
export async function embedMissing(
  skills: readonly Skill[],
  options: EmbeddingRunOptions,
): Promise<number | undefined> {
  const { store, onProgress } = options;
  const firstLine = Date.now() + PROGRESS_AFTER_MS;
  const all = new Map(skills.map((skill) => [documentKey(skill), skill]));
  const texts = CONTROL_TEXTS.map((text) => ({ key: controlKey(text), text }));
  const known = store.known([...all.keys(), ...texts.map(({ key }) => key)]);
  const missing = [...all].filter(([key]) => !known.has(key));
  // In a request of their own, so that it is the same for every catalog.
  const controls = texts.filter(({ key }) => !known.has(key));
  if (controls.length > 0 && !(await embedBatch(controls, options))) return undefined;
  const reportProgress = (done: number, end = ''): void =>
    onProgress(`Embedding skills: ${done.toLocaleString('en-US')} of ${all.size.toLocaleString('en-US')}${end}`);
  let [nextLine, added] = [firstLine, 0];
  for (const batch of batchesOf(missing, options)) {
    if (!(await embedBatch(batch, options))) return undefined;
    added += batch.length;
    if (Date.now() < nextLine || added === missing.length) continue;
    reportProgress(all.size - missing.length + added);
    nextLine = Date.now() + PROGRESS_EVERY_MS;
  }
  if (nextLine > firstLine) reportProgress(all.size, ', done');
  return controls.length + added;
}

// --- internal ---

interface KeyedText {
  readonly key: string;
  readonly text: string;
}

/** Leaves out skills whose file was removed after the snapshot. */
function* batchesOf(
  skills: readonly (readonly [string, Skill])[],
  { batch, readSkill }: EmbeddingRunOptions,
): Generator<readonly KeyedText[]> {
  let [texts, characters]: [KeyedText[], number] = [[], 0];
  for (const [key, skill] of skills) {
    const body = bodyIfThere(skill, readSkill);
    if (body === undefined) continue;
    const text = embeddedText(skill, body);
    if (texts.length === batch || (texts.length > 0 && characters + text.length > MAX_CHARACTERS)) {
      yield texts;
      [texts, characters] = [[], 0];
    }
    texts.push({ key, text });
    characters += text.length;
  }
  if (texts.length > 0) yield texts;
}

/** @returns whether the vectors were added. */
async function embedBatch(batch: readonly KeyedText[], options: EmbeddingRunOptions): Promise<boolean> {
  const { store, ask, signal, attempts, wait, onOutcome } = options;
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      const vectors = await ask(
        batch.map(({ text }) => text),
        signal,
        REQUEST_MS,
      );
      if (signal.aborted) return false;
      store.add(
        batch.map(({ key }, at) => ({ key, vector: vectors[at] as Float32Array })),
        Date.now(),
      );
      onOutcome(undefined);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (!(error instanceof EmbeddingsFailure)) throw error;
      const { temporary, retryAfterMs } = error.details;
      const isLast = !temporary || attempt >= attempts;
      if (isLast || attempt >= REPORTED_FROM) onOutcome(error);
      if (isLast) return false;
      await wait(retryAfterMs ?? backOff(attempt, WAITS));
    }
  }
  return false;
}
