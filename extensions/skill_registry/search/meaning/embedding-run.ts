import { backOff } from '../../../../lib/waiting/index.ts';
import type { Skill } from '../../skill/skill.ts';
import { bodyIfThere, documentKey } from '../document.ts';
import { CONTROL_TEXTS, controlKey, embeddedText } from './embedding-text.ts';
import { EmbeddingsFailure } from './embeddings-client.ts';
import type { VectorStore } from './vector-store.ts';

export interface EmbeddingRunOptions {
  readonly store: VectorStore;
  /** Rejects with an EmbeddingsFailure. */
  readonly ask: (texts: readonly string[], signal: AbortSignal, limitMs: number) => Promise<readonly Float32Array[]>;
  readonly readSkill: (skill: Skill) => Buffer;
  readonly batch: number;
  readonly signal: AbortSignal;
  readonly attempts: number;
  readonly wait: (ms: number) => Promise<void>;
  readonly onProgress: (line: string) => void;
  /** Called with a failure that is final or repeated, and with undefined after each successful request. */
  readonly onOutcome: (failure: EmbeddingsFailure | undefined) => void;
}

/** An endpoint on a small machine is slow. */
const REQUEST_MS = 60_000;
const WAITS = { firstMs: 1000, maxMs: 60_000, jitter: true };
/** The first failure in a row that is reported: a single failure is usually followed by a success. */
const REPORTED_FROM = 2;
const PROGRESS_AFTER_MS = 1000;
const PROGRESS_EVERY_MS = 2000;

/** Returns the number of added vectors; undefined when `signal` aborted or a request failed for good (`onOutcome`). */
export async function embedMissing(
  skills: readonly Skill[],
  options: EmbeddingRunOptions,
): Promise<number | undefined> {
  const { store, batch, readSkill, onProgress } = options;
  const firstLine = Date.now() + PROGRESS_AFTER_MS;
  const all = new Map(skills.map((skill) => [documentKey(skill), skill]));
  const texts = CONTROL_TEXTS.map((text) => ({ key: controlKey(text), text }));
  const known = store.known([...all.keys(), ...texts.map(({ key }) => key)]);
  const missing = [...all].filter(([key]) => !known.has(key));
  const controls = texts.filter(({ key }) => !known.has(key));
  // Apart from the skills: this request is the same for every catalog.
  if (!(await embedBatch(controls, options))) return undefined;
  const reportProgress = (done: number, end = ''): void =>
    onProgress(`Embedding skills: ${done.toLocaleString('en-US')} of ${all.size.toLocaleString('en-US')}${end}`);
  let [nextLine, added] = [firstLine, controls.length];
  for (let start = 0; start < missing.length; start += batch) {
    const skillTexts = missing.slice(start, start + batch).flatMap(([key, skill]) => {
      const body = bodyIfThere(skill, readSkill);
      return body === undefined ? [] : [{ key, text: embeddedText(skill, body) }];
    });
    if (!(await embedBatch(skillTexts, options))) return undefined;
    added += skillTexts.length;
    const left = missing.length - start - batch;
    if (Date.now() < nextLine || left <= 0) continue;
    reportProgress(all.size - left);
    nextLine = Date.now() + PROGRESS_EVERY_MS;
  }
  if (nextLine > firstLine) reportProgress(all.size, ', done');
  return added;
}

// --- internal ---

async function embedBatch(
  texts: readonly { readonly key: string; readonly text: string }[],
  { store, ask, signal, attempts, wait, onOutcome }: EmbeddingRunOptions,
): Promise<boolean> {
  if (texts.length === 0) return true;
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      const request = texts.map(({ text }) => text);
      const vectors = await ask(request, signal, REQUEST_MS);
      if (signal.aborted) break;
      const rows = texts.map(({ key }, at) => ({ key, vector: vectors[at] as Float32Array }));
      store.add(rows, Date.now());
      onOutcome(undefined);
      return true;
    } catch (error) {
      if (signal.aborted) break;
      if (!(error instanceof EmbeddingsFailure)) throw error;
      const { temporary, retryAfterMs } = error.details;
      const isLast = !temporary || attempt >= attempts;
      if (isLast || attempt >= REPORTED_FROM) onOutcome(error);
      if (isLast) break;
      await wait(retryAfterMs ?? backOff(attempt, WAITS));
    }
  }
  return false;
}
