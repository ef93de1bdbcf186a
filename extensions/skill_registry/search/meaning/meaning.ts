import { setTimeout } from 'node:timers/promises';
import { describeError, type Problem } from 'skill-registry/kernel';
import type { EmbeddingsConfig } from '../../config/config.ts';
import type { Skill } from '../../skill/skill.ts';
import type { SqliteDatabase } from '../../store/open-database.ts';
import { documentKey } from '../document.ts';
import { embedMissing } from './embedding-run.ts';
import { CONTROL_TEXTS, controlKey, queryText } from './embedding-text.ts';
import { type EmbeddingsEndpoint, EmbeddingsFailure, fetchEmbeddings, shownEndpoint } from './embeddings-client.ts';
import { calibrationOf, type Likeness, likenessOf } from './likeness.ts';
import { QueryVectors } from './query-vectors.ts';
import { VectorStore } from './vector-store.ts';

export interface MeaningOptions {
  readonly config: EmbeddingsConfig;
  /** Called once; opens the cache's database with the tables of `VECTORS`. `close` closes it. */
  readonly database: () => SqliteDatabase;
  readonly configFile: string;
  /** The file of `database`; undefined: the database is in memory. */
  readonly cacheFile: string | undefined;
  readonly readSkill: (skill: Skill) => Buffer;
  /** `EMBEDDINGS_API_KEY`, `MODEL_API_KEY`, `MODEL_BASE_URL`. */
  readonly getSecret: (name: string) => string | undefined;
  readonly onProgress: (line: string) => void;
  /** Called when `problems` has changed, but not during construction. */
  readonly onProblems: () => void;
  readonly wait?: (ms: number, options: WaitOptions) => Promise<void>;
}

export interface WaitOptions {
  readonly signal: AbortSignal;
  /** Whether the timer keeps the process alive. */
  readonly ref: boolean;
}

/** Compares queries with skills by meaning, with vectors from the endpoint of the config. */
export class Meaning {
  readonly #options: Required<MeaningOptions>;
  readonly #endpoint: EmbeddingsEndpoint;
  readonly #closing = new AbortController();
  readonly #partProblems = new Map<Part, Problem>();
  readonly #isConstructed: boolean = false;
  readonly #database: SqliteDatabase | undefined;
  readonly #store: VectorStore | undefined;
  readonly #queries: QueryVectors;
  #lastRun: Promise<void> = Promise.resolve();
  #background = new AbortController();
  #inBackground: Promise<void> | undefined;
  #next: readonly Skill[] | undefined;

  constructor(options: MeaningOptions) {
    this.#options = { wait: pause, ...options };
    const { base_url: baseUrl, model, timeout_ms: timeoutMs } = options.config;
    this.#endpoint = { baseUrl, model, key: keyFor(baseUrl, options.getSecret) };
    try {
      this.#database = options.database();
      this.#store = new VectorStore(this.#database, this.#endpoint);
    } catch (error) {
      this.#giveUp(error);
    }
    this.#queries = new QueryVectors({
      ask: async (text, limitMs) => (await this.#ask([text], this.#closing.signal, limitMs))[0] as Float32Array,
      timeoutMs,
      shownAs: shownEndpoint(baseUrl),
      onOutcome: (failure) => this.#report('query', failure),
    });
    this.#isConstructed = true;
  }

  /** Never rejects, takes at most `timeout_ms`. Sends nothing after a recent failure, or if no catalog was embedded. */
  async ready(query: string): Promise<void> {
    if (!this.#withStore((store) => store.calibration())) return;
    await this.#queries.ready(queryText(query)).catch((error) => this.#giveUp(error));
  }

  /** After `ready`. Undefined: search uses words only. */
  likeness(skills: readonly Skill[], query: string): Likeness | undefined {
    return this.#withStore((store) => {
      const vector = this.#queries.get(queryText(query));
      const calibration = vector && store.calibration();
      return calibration && likenessOf(skills, vector, store, calibration);
    });
  }

  /** For a caller who waits: interrupts the run in the background, repeats a request at most twice. */
  async embed(skills: readonly Skill[], signal: AbortSignal): Promise<void> {
    this.#background.abort();
    await this.#runInTurn(skills, signal, ATTEMPTS);
  }

  /** Repeats requests without limit; delays keep no process alive. A call during a run sets the skills of the next. */
  keepEmbedded(skills: readonly Skill[], signal: AbortSignal): Promise<void> {
    this.#next = skills;
    this.#inBackground ??= this.#embedNext(signal).finally(() => {
      this.#inBackground = undefined;
    });
    return this.#inBackground;
  }

  embedded(skills: readonly Skill[]): number {
    const known = this.#withStore((store) => store.known(skills.map(documentKey)));
    return skills.filter((skill) => known?.has(documentKey(skill))).length;
  }

  /** At most one: a failure for the catalog is a failure for queries too, and is reported once. */
  problems(): readonly Problem[] {
    const first = this.#partProblems.get('cache') ?? [...this.#partProblems.values()][0];
    return first ? [first] : [];
  }

  close(): void {
    this.#closing.abort();
    this.#database?.close();
  }

  async #ask(texts: readonly string[], signal: AbortSignal, limitMs: number): Promise<readonly Float32Array[]> {
    const vectors = await fetchEmbeddings(this.#endpoint, texts, signal, limitMs);
    const expected = this.#withStore((store) => store.dimensions());
    const found = vectors[0]?.length ?? 0;
    if (expected !== undefined && found !== expected)
      throw wrongSize(found, expected, this.#endpoint, this.#options.cacheFile);
    return vectors;
  }

  async #embedNext(signal: AbortSignal): Promise<void> {
    while (this.#next && !signal.aborted) {
      const skills = this.#next;
      this.#next = undefined;
      const interrupted = new AbortController();
      this.#background = interrupted;
      await this.#runInTurn(skills, AbortSignal.any([signal, interrupted.signal]), Number.POSITIVE_INFINITY);
      if (interrupted.signal.aborted) this.#next ??= skills;
    }
  }

  #runInTurn(skills: readonly Skill[], signal: AbortSignal, attempts: number): Promise<void> {
    this.#lastRun = this.#lastRun
      .then(() => this.#run(skills, AbortSignal.any([signal, this.#closing.signal]), attempts))
      .catch((error) => this.#giveUp(error));
    return this.#lastRun;
  }

  async #run(skills: readonly Skill[], signal: AbortSignal, attempts: number): Promise<void> {
    const store = this.#store;
    if (!store || this.#partProblems.has('cache') || signal.aborted) return;
    const { config, readSkill, onProgress, wait } = this.#options;
    const added = await embedMissing(skills, {
      store,
      ask: (texts, asking, limitMs) => this.#ask(texts, asking, limitMs),
      readSkill,
      batch: config.batch,
      signal,
      attempts,
      wait: (ms) => wait(ms, { signal, ref: Number.isFinite(attempts) }),
      onProgress,
      onOutcome: (failure) => this.#report('catalog', failure),
    });
    if (added === undefined || signal.aborted) return;
    if (added > 0 || !store.calibration()) {
      const calibration = await calibrationOf(skills, store);
      if (signal.aborted) return;
      if (calibration) store.calibrate(calibration);
    }
    store.tidy(new Set([...skills.map(documentKey), ...CONTROL_TEXTS.map(controlKey)]), Date.now());
  }

  #withStore<T>(work: (store: VectorStore) => T): T | undefined {
    if (!this.#store || this.#partProblems.has('cache') || this.#closing.signal.aborted) return undefined;
    try {
      return work(this.#store);
    } catch (error) {
      this.#giveUp(error);
      return undefined;
    }
  }

  #giveUp(error: unknown): void {
    const remove = 'stop what uses cache.db, and remove it and the files whose names begin with cache.db-';
    const install = 'install the package of sqlite-vec for this system (npm install --include=optional)';
    // Without SQLite the error says what to do.
    const advice = this.#store
      ? ` To have a new cache: ${remove}.`
      : this.#database
        ? ` Either ${install}, or ${remove}.`
        : '';
    const message = `Vectors cannot be stored here: ${describeError(error).replace(/\.$/, '')}.${advice}`;
    this.#report('cache', { code: 'EMBEDDINGS_UNAVAILABLE', message });
  }

  /** @param reason - Undefined: the problem is solved. */
  #report(part: Part, reason: Pick<Problem, 'code' | 'message'> | undefined): void {
    if (this.#closing.signal.aborted) return;
    const { configFile: file, onProblems } = this.#options;
    const message = `${reason?.message} ${part === 'cache' ? 'Search uses words only.' : WITHOUT_VECTOR}`;
    const problem: Problem | undefined = reason && { code: reason.code, severity: 'warning', file, message };
    const before = this.#partProblems.get(part);
    if (problem?.code === before?.code && problem?.message === before?.message) return;
    if (problem) this.#partProblems.set(part, problem);
    else this.#partProblems.delete(part);
    if (this.#isConstructed) onProblems();
  }
}

// --- internal ---

const ATTEMPTS = 3;

type Part = 'cache' | 'catalog' | 'query';

const WITHOUT_VECTOR = 'What has no vector is searched by words only.';

/** The key of the model is sent only to the endpoint of the model. */
function keyFor(baseUrl: string, getSecret: (name: string) => string | undefined): string | undefined {
  const modelUrl = getSecret('MODEL_BASE_URL')?.replace(/\/+$/, '');
  const shared = modelUrl === baseUrl.replace(/\/+$/, '') ? getSecret('MODEL_API_KEY') : undefined;
  return getSecret('EMBEDDINGS_API_KEY') ?? shared;
}

function wrongSize(
  found: number,
  expected: number,
  { baseUrl, model }: EmbeddingsEndpoint,
  cacheFile: string | undefined,
): EmbeddingsFailure {
  const what = `${shownEndpoint(baseUrl)} answered with vectors of ${found} numbers, expected ${expected} as before.`;
  const remedy = `If another model answers to ${JSON.stringify(model)} now, ${cacheFile === undefined ? 'open the registry again' : `delete ${cacheFile} and start again`}.`;
  return new EmbeddingsFailure('EMBEDDINGS_INVALID', `${what} ${remedy}`);
}

async function pause(ms: number, options: WaitOptions): Promise<void> {
  await setTimeout(ms, undefined, options).catch(() => undefined);
}
