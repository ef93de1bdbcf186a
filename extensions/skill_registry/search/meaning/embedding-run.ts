import type { Skill } from '../../skill/skill.ts';
import { documentKey } from '../document.ts';
import { CONTROL_TEXTS, controlKey, skillText } from './embedding-text.ts';
import { asFailure, type EmbeddingsFailure } from './embeddings-client.ts';
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
  readonly now: () => number;
  readonly onProgress: (line: string) => void;
  /** Told of a failure that has not passed, and of undefined when the next request went well. */
  readonly onOutcome: (failure: EmbeddingsFailure | undefined) => void;
}

export interface EmbeddingRun {
  readonly came: number;
  readonly complete: boolean;
}

/** Of one request; a request of an endpoint on a small machine takes its time. */
const REQUEST_MS = 60_000;
/** Characters of one request, whatever the number of texts. */
const MAX_CHARS = 65_536;
const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 60_000;
/** An endpoint may ask for this much. */
const MAX_ASKED_MS = 600_000;
/** One failure passes more often than not; the second in a row is told. */
const TOLD_FROM = 2;
const PROGRESS_AFTER_MS = 1000;
const PROGRESS_EVERY_MS = 2000;

/**
 * Embeds what has no vector yet, and the control texts, in batches one after the other. What may pass is tried again, ever more
 * slowly.
 *
 * @returns how many vectors came, and whether that is all: else `signal` aborted, or `onOutcome` was told why not.
 */
export async function embedMissing(skills: readonly Skill[], options: EmbeddingRunOptions): Promise<EmbeddingRun> {
  const { store, readSkill, signal, now, onProgress } = options;
  store.reload();
  const missing = [...new Map(skills.map((skill) => [documentKey(skill), skill]))].filter(
    ([key]) => store.numberOf(key) === undefined,
  );
  const started = now();
  let [shown, came, seen] = [0, 0, 0];
  const send = async (texts: readonly Keyed[]): Promise<boolean> => {
    const open = texts.filter(({ key }) => store.numberOf(key) === undefined);
    if (open.length > 0 && !(await embedBatch(open, options))) return false;
    came += open.length;
    return true;
  };
  // Apart from the skills: it is the same request whatever the catalog has.
  const controls = CONTROL_TEXTS.map((text) => ({ key: controlKey(text), text }));
  if (!(await send(controls))) return { came, complete: false };
  let [batch, chars]: [Keyed[], number] = [[], 0];
  for (const [key, skill] of missing) {
    seen++;
    const file = textIfThere(skill, readSkill);
    if (file === undefined) continue;
    const text = skillText(skill, file);
    if (batch.length > 0 && (batch.length >= options.batch || chars + text.length > MAX_CHARS)) {
      if (!(await send(batch))) return { came, complete: false };
      [batch, chars] = [[], 0];
      if (now() - started > PROGRESS_AFTER_MS && (shown === 0 || now() - shown > PROGRESS_EVERY_MS)) {
        shown = now();
        onProgress(`Embedding skills: ${count(skills.length - missing.length + seen - 1)} of ${count(skills.length)}`);
      }
    }
    if (signal.aborted) return { came, complete: false };
    batch.push({ key, text });
    chars += text.length;
  }
  if (!(await send(batch))) return { came, complete: false };
  if (shown > 0) onProgress(`Embedding skills: ${count(skills.length)} of ${count(skills.length)}, done`);
  return { came, complete: true };
}

// --- internal ---

interface Keyed {
  readonly key: string;
  readonly text: string;
}

/** The text of SKILL.md; undefined when it has gone since the snapshot, which the next one will know. */
function textIfThere(skill: Skill, readSkill: (skill: Skill) => Buffer): string | undefined {
  try {
    return readSkill(skill).toString('utf8');
  } catch {
    return undefined;
  }
}

/** @returns whether the vectors are there now. */
async function embedBatch(batch: readonly Keyed[], options: EmbeddingRunOptions): Promise<boolean> {
  const { store, ask, signal, attempts, wait, now, onOutcome } = options;
  for (let attempt = 1; ; attempt++) {
    if (signal.aborted) return false;
    try {
      const vectors = await ask(
        batch.map(({ text }) => text),
        signal,
        REQUEST_MS,
      );
      if (signal.aborted) return false;
      store.add(
        batch.map(({ key }, at) => ({ key, vector: vectors[at] as Float32Array })),
        now(),
      );
      onOutcome(undefined);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      const failure = asFailure(error);
      const last = !failure.passing || attempt >= attempts;
      if (last || attempt >= TOLD_FROM) onOutcome(failure);
      if (last) return false;
      await wait(waitMs(attempt, failure));
    }
  }
}

/** Twice as long each time, less up to a half by chance so that several processes do not come together. */
function waitMs(attempt: number, { retryAfterMs }: EmbeddingsFailure): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, MAX_ASKED_MS);
  return Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), MAX_WAIT_MS) * (0.5 + Math.random() / 2);
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}
