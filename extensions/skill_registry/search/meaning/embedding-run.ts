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
  /** The most texts of one request. */
  readonly batch: number;
  readonly signal: AbortSignal;
  /** How often one request is made before it is given up. */
  readonly attempts: number;
  readonly wait: (ms: number) => Promise<void>;
  readonly onProgress: (line: string) => void;
  /** Told of a failure that has not passed, and of undefined when the next request went well. */
  readonly onOutcome: (failure: EmbeddingsFailure | undefined) => void;
}

/** Of one request: an endpoint on a small machine takes its time. */
const REQUEST_MS = 60_000;
/** Of the texts of one request, in UTF-16 code units. */
const MAX_CHARACTERS = 65_536;
/** Between attempts. */
const WAITS = { firstMs: 1000, longestMs: 60_000, jitter: true };
/** Most failures are followed by a success; the second in a row is told. */
const TOLD_FROM = 2;
const PROGRESS_AFTER_MS = 1000;
const PROGRESS_EVERY_MS = 2000;

/**
 * Embeds what has no vector yet, and the control texts, in batches one after the other. What may pass is tried again.
 *
 * @returns how many vectors were added; undefined when some are missing: `signal` aborted, or `onOutcome` was told why.
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
  // In a request of their own, which is the same whatever the catalog has.
  const controls = texts.filter(({ key }) => !known.has(key));
  if (controls.length > 0 && !(await embedBatch(controls, options))) return undefined;
  const tell = (done: number, end = ''): void =>
    onProgress(`Embedding skills: ${done.toLocaleString('en-US')} of ${all.size.toLocaleString('en-US')}${end}`);
  let [nextLine, added] = [firstLine, 0];
  for (const batch of batchesOf(missing, options)) {
    if (!(await embedBatch(batch, options))) return undefined;
    added += batch.length;
    if (Date.now() < nextLine || added === missing.length) continue;
    tell(all.size - missing.length + added);
    nextLine = Date.now() + PROGRESS_EVERY_MS;
  }
  if (nextLine > firstLine) tell(all.size, ', done');
  return controls.length + added;
}

// --- internal ---

interface KeyedText {
  readonly key: string;
  readonly text: string;
}

/** Skills that have gone since the snapshot are left out; the next one will know. */
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
      const { passing, retryAfterMs } = error.details;
      const isLast = !passing || attempt >= attempts;
      if (isLast || attempt >= TOLD_FROM) onOutcome(error);
      if (isLast) return false;
      await wait(retryAfterMs ?? backOff(attempt, WAITS));
    }
  }
  return false;
}
