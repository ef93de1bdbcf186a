import { setTimeout } from 'node:timers/promises';
import { describeError, type Problem } from 'skill-registry/kernel';
import { withFallback } from '../../../../lib/errors/index.ts';
import { RecentMap } from '../../../../lib/recent-map/index.ts';
import { formatNumber } from '../../../../lib/text/index.ts';
import { backOff } from '../../../../lib/waiting/index.ts';
import { documentKey } from '../../core/search/document.ts';
import type { Likeness } from '../../core/search/types.ts';
import { bodyOf } from '../../core/skill/frontmatter.ts';
import type { Guard } from '../../core/skill/guard.ts';
import type { Skill } from '../../core/skill/skill.ts';
import type { SqliteDatabase } from '../../core/store/open-database.ts';
import type { EmbeddingsConfig } from './config.ts';
import { type EmbeddingsEndpoint, EmbeddingsFailure, fetchEmbeddings, shownEndpoint } from './embeddings-client.ts';
import { CONTROL_TEXTS, calibrationOf, controlKey, embeddedText, likenessOf, queryText } from './likeness.ts';
import { VectorStore } from './vector-store.ts';

export interface MeaningOptions {
  readonly config: EmbeddingsConfig;
  /** Called once; opens the cache's database with the tables of `VECTORS`. `close` closes it. */
  readonly database: () => SqliteDatabase;
  readonly configFile: string;
  /** The file of `database`; undefined: the database is in memory. */
  readonly cacheFile: string | undefined;
  readonly readSkill: (skill: Skill) => Buffer;
  readonly admit: Guard['admit'];
  /** `EMBEDDINGS_API_KEY`, `MODEL_API_KEY`, `MODEL_BASE_URL`. */
  readonly getSecret: (name: string) => string | undefined;
  readonly onProgress: (line: string) => void;
  /** Called when `problems` has changed, but not during construction. */
  readonly onProblems: () => void;
  /** `ref`: whether the timer keeps the process alive. */
  readonly wait?: (ms: number, options: { readonly signal: AbortSignal; readonly ref: boolean }) => Promise<void>;
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
  /** By text of a query. */
  readonly #queries = new RecentMap<string, Float32Array>(MAX_QUERIES);
  /** Of queries, in a row. */
  #failures = 0;
  #pausedUntil = 0;
  #lastRun: Promise<void> = Promise.resolve();
  #background = new AbortController();
  #inBackground: Promise<void> | undefined;
  #next: readonly Skill[] | undefined;

  constructor(options: MeaningOptions) {
    this.#options = { wait: pause, ...options };
    const { base_url: baseUrl, model } = options.config;
    this.#endpoint = { baseUrl, model, key: keyFor(baseUrl, options.getSecret) };
    try {
      this.#database = options.database();
      this.#store = new VectorStore(this.#database, this.#endpoint);
    } catch (error) {
      this.#giveUp(error);
    }
    this.#isConstructed = true;
  }

  /** Never rejects, takes at most `timeout_ms`. Sends nothing after a recent failure, or if no catalog was embedded. */
  async ready(query: string): Promise<void> {
    const text = queryText(query);
    if (text === '' || this.#queries.has(text) || Date.now() < this.#pausedUntil) return;
    if (!this.#withStore((store) => store.calibration())) return;
    const { base_url: baseUrl, timeout_ms: limitMs } = this.#options.config;
    const noAnswer = `${shownEndpoint(baseUrl)} gave no answer within ${limitMs} ms.`;
    const late = setTimeout(limitMs, new EmbeddingsFailure('EMBEDDINGS_FAILED', noAnswer), { ref: false });
    const asked = this.#ask([text], this.#closing.signal, MAX_LATE_MS).then(
      ([vector]) => void this.#queries.set(text, vector as Float32Array),
      (error) => (error instanceof EmbeddingsFailure ? error : this.#giveUp(error)),
    );
    const failure = (await Promise.race([asked, late])) ?? undefined;
    this.#failures = failure ? this.#failures + 1 : 0;
    if (failure) {
      const requested = Math.min(failure.details.retryAfterMs ?? 0, PAUSES.maxMs);
      this.#pausedUntil = Date.now() + Math.max(backOff(this.#failures, PAUSES), requested);
    }
    this.#report('query', failure);
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
    const all = new Map(skills.map((skill) => [documentKey(skill), skill]));
    const added = await this.#addMissing(all, { store, signal, attempts });
    if (added === undefined || signal.aborted) return;
    if (added > 0 || !store.calibration()) {
      const calibration = await calibrationOf(skills, store);
      if (signal.aborted) return;
      if (calibration) store.calibrate(calibration);
    }
    store.tidy([...all.keys(), ...CONTROL_TEXTS.map(controlKey)], Date.now());
  }

  /** Returns the number of added vectors; undefined when the run was aborted or a request failed for good. */
  async #addMissing(all: ReadonlyMap<string, Skill>, run: Run): Promise<number | undefined> {
    const { config, onProgress } = this.#options;
    const firstLine = Date.now() + PROGRESS_AFTER_MS;
    const controls = CONTROL_TEXTS.map((text) => ({ key: controlKey(text), text }));
    const known = run.store.known([...all.keys(), ...controls.map(({ key }) => key)]);
    const missing = [...all].filter(([key]) => !known.has(key));
    const newControls = controls.filter(({ key }) => !known.has(key));
    // Apart from the skills: this request is the same for every catalog.
    if (!(await this.#addVectors(newControls, run))) return undefined;
    const reportProgress = (done: number, end = ''): void =>
      onProgress(`Embedding skills: ${formatNumber(done)} of ${formatNumber(all.size)}${end}`);
    let [nextLine, added] = [firstLine, newControls.length];
    for (let start = 0; start < missing.length; start += config.batch) {
      const batch = missing.slice(start, start + config.batch);
      const texts = (await Promise.all(batch.map(([key, skill]) => this.#textOf(key, skill)))).flat();
      if (!(await this.#addVectors(texts, run))) return undefined;
      added += texts.length;
      const left = missing.length - start - config.batch;
      if (Date.now() < nextLine || left <= 0) continue;
      reportProgress(all.size - left);
      nextLine = Date.now() + PROGRESS_EVERY_MS;
    }
    if (nextLine > firstLine) reportProgress(all.size, ', done');
    return added;
  }

  /** Empty for a skill that no agent gets: headings of its body leave this machine. */
  async #textOf(key: string, skill: Skill): Promise<readonly { readonly key: string; readonly text: string }[]> {
    const bytes = skill.remote ? undefined : withFallback(() => this.#options.readSkill(skill));
    if (!skill.remote && !bytes) return [];
    const judged = bytes && { bytes, path: 'SKILL.md' };
    const { admit } = this.#options;
    const { given } = await admit({ skill, kind: 'derived', audience: 'model', ...judged });
    // Its line may be of an older file.
    if (!given || !admit({ skill, kind: 'line', audience: 'model' }).given) return [];
    return [{ key, text: embeddedText(skill, bodyOf(bytes?.toString('utf8') ?? '')) }];
  }

  /** False when the run was aborted, or a request failed for good. */
  async #addVectors(
    texts: readonly { readonly key: string; readonly text: string }[],
    { store, signal, attempts }: Run,
  ): Promise<boolean> {
    if (texts.length === 0) return true;
    const request = texts.map(({ text }) => text);
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        const vectors = await this.#ask(request, signal, REQUEST_MS);
        if (signal.aborted) break;
        const rows = texts.map(({ key }, at) => ({ key, vector: vectors[at] as Float32Array }));
        store.add(rows, Date.now());
        this.#report('catalog', undefined);
        return true;
      } catch (error) {
        if (signal.aborted) break;
        if (!(error instanceof EmbeddingsFailure)) throw error;
        const { temporary, retryAfterMs } = error.details;
        const isLast = !temporary || attempt >= attempts;
        if (isLast || attempt >= REPORTED_FROM) this.#report('catalog', error);
        if (isLast) break;
        await this.#options.wait(retryAfterMs ?? backOff(attempt, WAITS), { signal, ref: Number.isFinite(attempts) });
      }
    }
    return false;
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
/** An endpoint on a small machine is slow. */
const REQUEST_MS = 60_000;
const WAITS = { firstMs: 1000, maxMs: 60_000, jitter: true };
/** The first failure in a row that is reported: a single failure is usually followed by a success. */
const REPORTED_FROM = 2;
const PROGRESS_AFTER_MS = 1000;
const PROGRESS_EVERY_MS = 2000;
const MAX_QUERIES = 256;
/** A query goes on after `timeout_ms`: a slow endpoint loads its model, and the next equal query needs the vector. */
const MAX_LATE_MS = 10_000;
/** After a failed query no other one is sent for this long. */
const PAUSES = { firstMs: 10_000, maxMs: 300_000 };

interface Run {
  readonly store: VectorStore;
  readonly signal: AbortSignal;
  readonly attempts: number;
}

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

const pause: Required<MeaningOptions>['wait'] = (ms, options) =>
  setTimeout(ms, undefined, options).catch(() => undefined);
