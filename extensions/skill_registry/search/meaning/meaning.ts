import { setTimeout } from 'node:timers/promises';
import { describeError, type Problem } from 'skill-registry/kernel';
import { createBreaks } from '../../../../lib/breaks/index.ts';
import type { EmbeddingsConfig } from '../../config/embeddings.ts';
import type { Skill } from '../../skill/skill.ts';
import type { SqliteDatabase } from '../../store/open-database.ts';
import { documentKey } from '../document.ts';
import { embedMissing } from './embedding-run.ts';
import { CONTROL_TEXTS, controlKey, queryText } from './embedding-text.ts';
import { type EmbeddingsEndpoint, EmbeddingsFailure, fetchEmbeddings, shownEndpoint } from './embeddings-client.ts';
import { calibrationOf, createNeighbours, type Likeness, likenessOf, type Neighbour } from './likeness.ts';
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
  /** Default: the real ones. */
  readonly now?: () => number;
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
  readonly #wrong: Record<Part, Problem | undefined> = { cache: undefined, catalog: undefined, query: undefined };
  readonly #isMade: boolean = false;
  #database: SqliteDatabase | undefined;
  readonly #store: VectorStore | undefined;
  readonly #neighbours: (skills: readonly Skill[], vector: Float32Array) => readonly Neighbour[];
  readonly #queries: QueryVectors;
  /** The run that began last. */
  #running: Promise<void> = Promise.resolve();
  /** Ends the run in the background. */
  #makeWay = new AbortController();
  /** What the run in the background is to embed next. */
  #wanted: readonly Skill[] | undefined;
  #keeping: Promise<void> | undefined;

  constructor(options: MeaningOptions) {
    this.#options = { now: Date.now, wait: pause, ...options };
    const { base_url: baseUrl, model, timeout_ms: budgetMs } = options.config;
    this.#endpoint = { baseUrl, model, key: keyFor(baseUrl, options.getSecret) };
    this.#store = this.#guarded<VectorStore | undefined>(() => {
      this.#database = options.database();
      return new VectorStore(this.#database, this.#endpoint);
    }, undefined);
    this.#neighbours = this.#store ? createNeighbours(this.#store) : () => [];
    this.#queries = new QueryVectors({
      ask: async (text, signal, limitMs) => (await this.#ask([text], signal, limitMs))[0] as Float32Array,
      budgetMs,
      shownAs: shownEndpoint(baseUrl),
      closing: this.#closing.signal,
      onOutcome: (failure) => this.#noteOutcome('query', failure),
      now: this.#options.now,
    });
    this.#isMade = true;
  }

  /**
   * Asks the endpoint about a query, unless it is known, or the endpoint was silent lately, or the catalog was never embedded.
   * Settles after `timeout_ms` at the latest, and never rejects.
   */
  async ready(query: string): Promise<void> {
    if (!this.#guarded(() => this.#store?.calibration(), undefined)) return;
    await this.#queries.ready(queryText(query)).catch((error) => this.#giveUp(error));
  }

  /** How near skills come to a query that was made ready; undefined: the words alone decide. */
  likeness(skills: readonly Skill[], query: string): Likeness | undefined {
    return this.#guarded(() => {
      const vector = this.#queries.get(queryText(query));
      const calibration = vector && this.#store?.calibration();
      return vector && calibration ? likenessOf(this.#neighbours(skills, vector), calibration) : undefined;
    }, undefined);
  }

  /**
   * Embeds what is missing, for somebody who waits for it: what goes on in the background makes way.
   *
   * @param attempts - How often one request is made before it is given up.
   */
  async embed(skills: readonly Skill[], signal: AbortSignal, attempts: number): Promise<void> {
    this.#makeWay.abort();
    await this.#runInTurn(skills, signal, attempts);
  }

  /**
   * The same in the background: requests are made again and again, and the waits between them do not keep the process alive.
   * While this is under way, a call only says what the catalog is now.
   */
  keepEmbedded(skills: readonly Skill[], signal: AbortSignal): Promise<void> {
    this.#wanted = skills;
    this.#keeping ??= this.#embedWanted(signal).finally(() => {
      this.#keeping = undefined;
    });
    return this.#keeping;
  }

  /** How many of these have a vector. */
  embedded(skills: readonly Skill[]): number {
    return this.#guarded(() => {
      this.#store?.catchUp();
      return skills.filter((skill) => this.#store?.numberOf(documentKey(skill)) !== undefined).length;
    }, 0);
  }

  /** At most one. */
  problems(): readonly Problem[] {
    const { cache, catalog, query } = this.#wrong;
    return [cache ?? catalog ?? query ?? []].flat();
  }

  close(): void {
    this.#closing.abort();
    this.#database?.close();
  }

  async #ask(texts: readonly string[], signal: AbortSignal, limitMs: number): Promise<readonly Float32Array[]> {
    const vectors = await fetchEmbeddings(this.#endpoint, texts, signal, limitMs);
    const expected = this.#guarded(() => this.#store?.dimensions(), undefined);
    const found = vectors[0]?.length;
    if (found !== undefined && expected !== undefined && found !== expected)
      throw wrongSize(found, expected, this.#endpoint);
    return vectors;
  }

  async #embedWanted(signal: AbortSignal): Promise<void> {
    while (this.#wanted && !signal.aborted) {
      const skills = this.#wanted;
      this.#wanted = undefined;
      const makeWay = new AbortController();
      this.#makeWay = makeWay;
      await this.#runInTurn(skills, AbortSignal.any([signal, makeWay.signal]), Number.POSITIVE_INFINITY);
      if (makeWay.signal.aborted) this.#wanted ??= skills;
    }
  }

  /** One run at a time. */
  #runInTurn(skills: readonly Skill[], signal: AbortSignal, attempts: number): Promise<void> {
    this.#running = this.#running
      .then(() => this.#run(skills, AbortSignal.any([signal, this.#closing.signal]), attempts))
      .catch((error) => this.#giveUp(error));
    return this.#running;
  }

  async #run(skills: readonly Skill[], signal: AbortSignal, attempts: number): Promise<void> {
    const store = this.#store;
    if (!store || this.#wrong.cache || signal.aborted) return;
    const { config, readSkill, onProgress, now, wait } = this.#options;
    const { came, complete } = await embedMissing(skills, {
      store,
      ask: (texts, asking, limitMs) => this.#ask(texts, asking, limitMs),
      readSkill,
      batch: config.batch,
      signal,
      attempts,
      wait: (ms) => wait(ms, { signal, ref: Number.isFinite(attempts) }),
      now,
      onProgress,
      onOutcome: (failure) => this.#noteOutcome('catalog', failure),
    });
    if (!complete) return;
    if (came > 0 || !store.calibration()) {
      const calibration = await calibrationOf(skills, store, this.#neighbours, createBreaks());
      if (signal.aborted) return;
      if (calibration) store.calibrate(calibration);
    }
    store.tidy(new Set([...skills.map(documentKey), ...CONTROL_TEXTS.map(controlKey)]), now());
  }

  /** Without SQLite or sqlite-vec, or with a cache that fails, everything goes on without meaning. */
  #guarded<T>(work: () => T, otherwise: T): T {
    if (this.#wrong.cache || this.#closing.signal.aborted) return otherwise;
    try {
      return work();
    } catch (error) {
      this.#giveUp(error);
      return otherwise;
    }
  }

  #giveUp(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    const reason = describeError(error).replace(/\.$/, '');
    this.#note('cache', 'EMBEDDINGS_UNAVAILABLE', `Vectors cannot be kept here: ${reason}. ${EFFECTS.cache}`);
  }

  #noteOutcome(part: Part, failure: EmbeddingsFailure | undefined): void {
    if (this.#closing.signal.aborted) return;
    if (failure) this.#note(part, failure.code, `${failure.message} ${EFFECTS[part]}`);
    else this.#note(part);
  }

  #note(part: Part, code?: Problem['code'], message = ''): void {
    const before = this.#wrong[part];
    if (code === before?.code && message === (before?.message ?? '')) return;
    const { configFile: file, onProblems } = this.#options;
    this.#wrong[part] = code === undefined ? undefined : { code, severity: 'warning', file, message };
    if (this.#isMade) onProblems();
  }
}

// --- internal ---

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
  return new EmbeddingsFailure(`${told} ${remedy}`, { code: 'EMBEDDINGS_INVALID' });
}

async function pause(ms: number, options: WaitOptions): Promise<void> {
  await setTimeout(ms, undefined, options).catch(() => undefined);
}
