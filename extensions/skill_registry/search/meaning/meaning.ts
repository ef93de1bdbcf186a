import { setTimeout } from 'node:timers/promises';
import { describeError, type Problem } from 'skill-registry/kernel';
import type { EmbeddingsConfig } from '../../config/embeddings.ts';
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
  /** Opens the cache's database, with the tables of `VECTORS`, once; `close` closes it. */
  readonly database: () => SqliteDatabase;
  /** Named in problems. */
  readonly configFile: string;
  /** The bytes of SKILL.md; may throw. */
  readonly readSkill: (skill: Skill) => Buffer;
  /** `EMBEDDINGS_API_KEY`, `MODEL_API_KEY`, `MODEL_BASE_URL`. */
  readonly getSecret: (name: string) => string | undefined;
  /** A line for people, when embedding takes more than a second. */
  readonly onProgress: (line: string) => void;
  /** Told whenever `problems` may have changed since it was made. */
  readonly onProblems: () => void;
  /** Between attempts. Default: a real one; tests do not wait. */
  readonly wait?: (ms: number, options: WaitOptions) => Promise<void>;
}

export interface WaitOptions {
  readonly signal: AbortSignal;
  /** Whether the process lives on for it. */
  readonly ref: boolean;
}

/** Compares queries with skills by what they mean, with the vectors of a model behind the endpoint that the config names. */
export class Meaning {
  readonly #options: Required<MeaningOptions>;
  readonly #endpoint: EmbeddingsEndpoint;
  readonly #closing = new AbortController();
  /** What is wrong with the cache, with embedding the catalog, and with queries: the first of them is told. */
  readonly #wrong: Partial<Record<Part, Problem | undefined>> = {};
  readonly #isMade: boolean = false;
  readonly #database: SqliteDatabase | undefined;
  readonly #store: VectorStore | undefined;
  readonly #queries: QueryVectors;
  /** Ends with the run that began last. */
  #lastRun: Promise<void> = Promise.resolve();
  /** Aborts the run in the background. */
  #background = new AbortController();
  #inBackground: Promise<void> | undefined;
  /** What is to be embedded in the background next. */
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
      onOutcome: (failure) => this.#tell('query', failure),
    });
    this.#isMade = true;
  }

  /**
   * Asks the endpoint about a query, unless it is known, or the endpoint was silent lately, or the catalog was never embedded.
   * Settles after `timeout_ms` at the latest, and never rejects.
   */
  async ready(query: string): Promise<void> {
    if (!this.#withStore((store) => store.calibration())) return;
    await this.#queries.ready(queryText(query)).catch((error) => this.#giveUp(error));
  }

  /** How near skills come to a query that was made ready; undefined: the words alone decide. */
  likeness(skills: readonly Skill[], query: string): Likeness | undefined {
    return this.#withStore((store) => {
      const vector = this.#queries.get(queryText(query));
      const calibration = vector && store.calibration();
      return calibration && likenessOf(skills, vector, store, calibration);
    });
  }

  /**
   * Embeds what is missing, for somebody who waits for it: it interrupts what goes on in the background, and a request that has
   * failed three times is given up.
   */
  async embed(skills: readonly Skill[], signal: AbortSignal): Promise<void> {
    this.#background.abort();
    await this.#runInTurn(skills, signal, ATTEMPTS);
  }

  /**
   * The same in the background: requests are made again and again, and the waits between them do not keep the process alive.
   * While this is under way, a call only says what the catalog is now.
   */
  keepEmbedded(skills: readonly Skill[], signal: AbortSignal): Promise<void> {
    this.#next = skills;
    this.#inBackground ??= this.#embedNext(signal).finally(() => {
      this.#inBackground = undefined;
    });
    return this.#inBackground;
  }

  /** How many of these have a vector. */
  embedded(skills: readonly Skill[]): number {
    const known = this.#withStore((store) => store.known(skills.map(documentKey)));
    return skills.filter((skill) => known?.has(documentKey(skill))).length;
  }

  /** At most one. */
  problems(): readonly Problem[] {
    const { cache, catalog, query } = this.#wrong;
    const first = cache ?? catalog ?? query;
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
    if (expected !== undefined && found !== expected) throw wrongSize(found, expected, this.#endpoint);
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

  /** One run at a time. */
  #runInTurn(skills: readonly Skill[], signal: AbortSignal, attempts: number): Promise<void> {
    this.#lastRun = this.#lastRun
      .then(() => this.#run(skills, AbortSignal.any([signal, this.#closing.signal]), attempts))
      .catch((error) => this.#giveUp(error));
    return this.#lastRun;
  }

  async #run(skills: readonly Skill[], signal: AbortSignal, attempts: number): Promise<void> {
    const store = this.#store;
    if (!store || this.#wrong.cache || signal.aborted) return;
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
      onOutcome: (failure) => this.#tell('catalog', failure),
    });
    if (added === undefined || signal.aborted) return;
    if (added > 0 || !store.calibration()) {
      const calibration = await calibrationOf(skills, store);
      if (signal.aborted) return;
      if (calibration) store.calibrate(calibration);
    }
    store.tidy(new Set([...skills.map(documentKey), ...CONTROL_TEXTS.map(controlKey)]), Date.now());
  }

  /** Without SQLite or sqlite-vec, or with a cache that fails, everything goes on without meaning. */
  #withStore<T>(work: (store: VectorStore) => T): T | undefined {
    if (!this.#store || this.#wrong.cache || this.#closing.signal.aborted) return undefined;
    try {
      return work(this.#store);
    } catch (error) {
      this.#giveUp(error);
      return undefined;
    }
  }

  #giveUp(error: unknown): void {
    const message = `Vectors cannot be kept here: ${describeError(error).replace(/\.$/, '')}.`;
    this.#tell('cache', { code: 'EMBEDDINGS_UNAVAILABLE', message });
  }

  /** @param reason - Undefined: nothing is wrong any more. */
  #tell(part: Part, reason: Pick<Problem, 'code' | 'message'> | undefined): void {
    if (this.#closing.signal.aborted) return;
    const { configFile: file, onProblems } = this.#options;
    const message = `${reason?.message} ${EFFECTS[part]}`;
    const problem: Problem | undefined = reason && { code: reason.code, severity: 'warning', file, message };
    if (problem?.code === this.#wrong[part]?.code && problem?.message === this.#wrong[part]?.message) return;
    this.#wrong[part] = problem;
    if (this.#isMade) onProblems();
  }
}

// --- internal ---

const ATTEMPTS = 3;

type Part = 'cache' | 'catalog' | 'query';

const EFFECTS: Readonly<Record<Part, string>> = {
  cache: 'Search goes by words alone.',
  catalog: 'What was not embedded is searched by words alone.',
  query: 'Search goes by words alone meanwhile.',
};

/** The key of the model goes nowhere but to the model's own endpoint. */
function keyFor(baseUrl: string, getSecret: (name: string) => string | undefined): string | undefined {
  const modelUrl = getSecret('MODEL_BASE_URL')?.replace(/\/+$/, '');
  const shared = modelUrl === baseUrl.replace(/\/+$/, '') ? getSecret('MODEL_API_KEY') : undefined;
  return getSecret('EMBEDDINGS_API_KEY') ?? shared;
}

function wrongSize(found: number, expected: number, { baseUrl, model }: EmbeddingsEndpoint): EmbeddingsFailure {
  const told = `${shownEndpoint(baseUrl)} answered with vectors of ${found} numbers, expected ${expected} as before.`;
  const remedy = `If another model answers to ${JSON.stringify(model)} now, delete cache.db beside the config.`;
  return new EmbeddingsFailure('EMBEDDINGS_INVALID', `${told} ${remedy}`);
}

async function pause(ms: number, options: WaitOptions): Promise<void> {
  await setTimeout(ms, undefined, options).catch(() => undefined);
}
