import { setTimeout } from 'node:timers/promises';
import { describeError, type Problem } from 'skill-registry/kernel';
import type { Skill } from '../../skill/skill.ts';
import type { SqliteDatabase } from '../../store/open-database.ts';
import { documentKey } from '../document.ts';
import { calibrationOf } from './calibrate.ts';
import { controlKey, embedMissing } from './embedding-run.ts';
import { CONTROL_TEXTS, queryText } from './embedding-text.ts';
import { type EmbeddingsEndpoint, EmbeddingsFailure, fetchEmbeddings, shownEndpoint } from './embeddings-client.ts';
import type { Likeness } from './likeness.ts';
import { likenessOf } from './likeness.ts';
import { createQueryVectors } from './query-vectors.ts';
import { createNeighbours } from './vector-neighbours.ts';
import { createVectorStore, type VectorStore } from './vector-store.ts';

/** How many skills of the catalog have a vector. */
export interface EmbeddedSkills {
  readonly embedded: number;
  readonly total: number;
}

/** Compares queries with skills by what they mean, with the vectors of a model behind an endpoint. */
export interface Meaning {
  /**
   * Asks the endpoint about a query, unless it is known, or the endpoint was silent lately, or the catalog was never embedded.
   * Settles after `timeout_ms` at the latest, and never rejects.
   */
  ready(query: string): Promise<void>;
  /** How near skills come to a query that was made ready; undefined: the words alone decide. */
  likeness(skills: readonly Skill[], query: string): Likeness | undefined;
  /**
   * Embeds what is missing, for somebody who waits for it: what goes on in the background makes way.
   *
   * @param attempts - How often one request is made before it is given up.
   */
  embed(skills: readonly Skill[], signal: AbortSignal, attempts: number): Promise<void>;
  /**
   * The same in the background: requests are made again and again, and the waits between them do not keep the process alive.
   * While this is under way, a call only says what the catalog is now.
   */
  keepEmbedded(skills: readonly Skill[], signal: AbortSignal): Promise<void>;
  /** How many of these have a vector. */
  embedded(skills: readonly Skill[]): number;
  /** At most one. */
  problems(): readonly Problem[];
  close(): void;
}

export interface MeaningOptions {
  readonly endpoint: EmbeddingsEndpoint;
  /** How long a query waits for the endpoint, in milliseconds. */
  readonly timeoutMs: number;
  /** The most texts of one request. */
  readonly batch: number;
  /** Opens the cache's database, with the tables of `VECTORS`, once; the caller closes it after `close`. */
  readonly database: () => SqliteDatabase;
  /** Named in problems. */
  readonly configFile: string;
  readonly readText: (skill: Skill) => string | undefined;
  readonly pace: () => () => Promise<void>;
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

export function createMeaning(options: MeaningOptions): Meaning {
  const { endpoint, timeoutMs, batch, configFile, now = Date.now, wait = pause } = options;
  const shownAs = shownEndpoint(endpoint.baseUrl);
  const closing = new AbortController();
  /** What is wrong with the cache, with embedding the catalog, and with queries: the first of them is told. */
  const wrong: Record<Part, Problem | undefined> = { cache: undefined, catalog: undefined, query: undefined };
  let isMade = false;
  const note = (part: Part, code?: Problem['code'], message = ''): void => {
    if (code === wrong[part]?.code && message === (wrong[part]?.message ?? '')) return;
    wrong[part] = code === undefined ? undefined : { code, severity: 'warning', file: configFile, message };
    if (isMade) options.onProblems();
  };
  const onOutcome = (part: Part, failure: EmbeddingsFailure | undefined): void => {
    if (closing.signal.aborted) return;
    if (failure) note(part, failure.code, `${failure.message} ${EFFECTS[part]}`);
    else note(part);
  };
  /** Without SQLite or sqlite-vec, or with a cache that fails, everything goes on without meaning. */
  const guarded = <T>(work: () => T, otherwise: T): T => {
    if (wrong.cache || closing.signal.aborted) return otherwise;
    try {
      return work();
    } catch (error) {
      giveUp(error);
      return otherwise;
    }
  };
  const giveUp = (error: unknown): void => {
    if (closing.signal.aborted) return;
    const reason = describeError(error).replace(/\.$/, '');
    note('cache', 'EMBEDDINGS_UNAVAILABLE', `Vectors cannot be kept here: ${reason}. ${EFFECTS.cache}`);
  };

  const store = guarded<VectorStore | undefined>(() => createVectorStore(options.database(), endpoint), undefined);
  const neighbours = store ? createNeighbours(store) : () => [];
  const ask = async (texts: readonly string[], signal: AbortSignal, limitMs: number) => {
    const vectors = await fetchEmbeddings(endpoint, texts, signal, limitMs);
    const expected = guarded(() => store?.dimensions(), undefined);
    const [first] = vectors;
    if (first && expected !== undefined && first.length !== expected) throw wrongSize(first.length, expected, endpoint);
    return vectors;
  };
  const queries = createQueryVectors({
    ask: async (text, signal, limitMs) => (await ask([text], signal, limitMs))[0] as Float32Array,
    budgetMs: timeoutMs,
    shownAs,
    closing: closing.signal,
    onOutcome: (failure) => onOutcome('query', failure),
    now,
  });

  const run = async (skills: readonly Skill[], signal: AbortSignal, attempts: number): Promise<void> => {
    if (!store || wrong.cache || signal.aborted) return;
    const { readText, onProgress, pace } = options;
    const { came, complete } = await embedMissing(skills, {
      store,
      ask,
      readText,
      batch,
      signal,
      attempts,
      wait: (ms) => wait(ms, { signal, ref: Number.isFinite(attempts) }),
      now,
      onProgress,
      onOutcome: (failure) => onOutcome('catalog', failure),
    });
    if (!complete) return;
    if (came > 0 || !store.calibration()) {
      const calibration = await calibrationOf(skills, store, neighbours, pace());
      if (signal.aborted) return;
      if (calibration) store.calibrate(calibration);
    }
    store.tidy(new Set([...skills.map(documentKey), ...CONTROL_TEXTS.map(controlKey)]), now());
  };
  let last: Promise<void> = Promise.resolve();
  /** One run at a time. */
  const inTurn = (skills: readonly Skill[], signal: AbortSignal, attempts: number): Promise<void> => {
    last = last
      .then(() => run(skills, AbortSignal.any([signal, closing.signal]), attempts))
      .catch((error) => giveUp(error));
    return last;
  };
  let makeWay = new AbortController();
  let [wanted, keeping]: [readonly Skill[] | undefined, Promise<void> | undefined] = [undefined, undefined];
  const keep = async (signal: AbortSignal): Promise<void> => {
    while (wanted && !signal.aborted) {
      const skills = wanted;
      wanted = undefined;
      makeWay = new AbortController();
      await inTurn(skills, AbortSignal.any([signal, makeWay.signal]), Number.POSITIVE_INFINITY);
      if (makeWay.signal.aborted) wanted ??= skills;
    }
  };

  isMade = true;
  return {
    async ready(query) {
      if (!guarded(() => store?.calibration(), undefined)) return;
      await queries.ready(queryText(query)).catch(giveUp);
    },
    likeness: (skills, query) =>
      guarded(() => {
        const vector = queries.get(queryText(query));
        const calibration = vector && store?.calibration();
        return vector && calibration ? likenessOf(neighbours(skills, vector), calibration) : undefined;
      }, undefined),
    async embed(skills, signal, attempts) {
      makeWay.abort();
      await inTurn(skills, signal, attempts);
    },
    keepEmbedded(skills, signal) {
      wanted = skills;
      keeping ??= keep(signal).finally(() => {
        keeping = undefined;
      });
      return keeping;
    },
    embedded: (skills) =>
      guarded(() => {
        store?.catchUp();
        return skills.filter((skill) => store?.numberOf(documentKey(skill)) !== undefined).length;
      }, 0),
    problems: () => [wrong.cache ?? wrong.catalog ?? wrong.query ?? []].flat(),
    close: () => closing.abort(),
  };
}

// --- internal ---

type Part = 'cache' | 'catalog' | 'query';

const EFFECTS: Readonly<Record<Part, string>> = {
  cache: 'Search goes by words alone.',
  catalog: 'What was not embedded is searched by words alone.',
  query: 'Search goes by words alone meanwhile.',
};

function wrongSize(found: number, expected: number, { baseUrl, model }: EmbeddingsEndpoint): EmbeddingsFailure {
  const told = `${shownEndpoint(baseUrl)} answered with vectors of ${found} numbers, expected ${expected} as before.`;
  const remedy = `If another model answers to ${JSON.stringify(model)} now, delete cache.db beside the config.`;
  return new EmbeddingsFailure(`${told} ${remedy}`, { code: 'EMBEDDINGS_INVALID' });
}

async function pause(ms: number, options: WaitOptions): Promise<void> {
  await setTimeout(ms, undefined, options).catch(() => undefined);
}
