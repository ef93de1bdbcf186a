import { createBreaks } from '../../../lib/breaks/index.ts';
import { digestOf } from '../../../lib/digest/index.ts';
import { createGuardedIndex, type GuardedIndex, type TextIndex } from '../../../lib/text-index/index.ts';
import { parseSkill } from '../skill/parse-skill.ts';
import type { Skill } from '../skill/skill.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { bodyIfThere, headerText } from './document.ts';
import { hitsInsideWords, hitsOf, nearestTo, relevantOf, type SearchHit } from './hits.ts';
import { createIndexer, type Indexer } from './indexer.ts';
import type { Likeness } from './meaning/likeness.ts';
import { normalizedName } from './names.ts';
import { makePool, type Pool, poolSteps } from './pool.ts';
import { lookUpTerms, parseQuery, type Query } from './query.ts';
import { type Ranking, rankPool } from './rank.ts';

export interface SearchAnswer {
  /** Best first. */
  readonly hits: readonly SearchHit[];
  /** Up to three similar ids when nothing fits; else empty. */
  readonly nearest: readonly string[];
  /** The terms that were searched, including corrections. */
  readonly terms: ReadonlySet<string>;
}

export interface SearcherOptions {
  /** Opens the cache's database with the tables of `SEARCH_INDEX`; called on first use. `close` closes it. When it throws, the index is in memory. */
  readonly database: () => SqliteDatabase;
  /** Removes the file of a damaged database, so that `database` creates it again. */
  readonly removeDatabase?: () => void;
  /** The bytes of SKILL.md; may throw. */
  readonly readSkill: (skill: Skill) => Buffer;
}

/** For phrases, at most this many of the best hits are read; the others are left out. */
const MAX_READ = 1000;

/** Finds skills for a query or a prompt. */
export class Searcher {
  readonly #proposals = new WeakMap<Skill, Buffer>();
  readonly #readSkill: (skill: Skill) => Buffer;
  readonly #guarded: GuardedIndex;
  readonly #indexer: Indexer;
  readonly #closing = new AbortController();
  readonly #pools = new WeakMap<readonly Skill[], StoredPool>();
  #preparing: Promise<void> = Promise.resolve();

  constructor({ database, removeDatabase, readSkill }: SearcherOptions) {
    this.#readSkill = (skill) => this.#proposals.get(skill) ?? readSkill(skill);
    this.#guarded = createGuardedIndex(database, removeDatabase);
    this.#indexer = createIndexer(this.#guarded, this.#readSkill);
  }

  /**
   * Returns the skills that fit a query. Indexes missing skills first, all at once.
   *
   * @param skills - The frequency of words is counted over these. Passing the same array again is faster.
   * @param accepts - Which of them may be found. Default: all.
   * @param likeness - Nearness by meaning, which is added to the rank by words. Not used for a query with a phrase.
   */
  search(
    skills: readonly Skill[],
    text: string,
    accepts?: (skill: Skill) => boolean,
    likeness?: Likeness,
  ): SearchAnswer {
    const query = parseQuery(text);
    let pool = this.#completePool(skills);
    let ranked = this.#rank(pool, query, true);
    if (this.#pools.get(skills)?.of !== ranked.of) {
      // The file has failed in that moment, and the pool belongs to the index before.
      pool = this.#completePool(skills);
      ranked = this.#rank(pool, query, true);
    }
    const { ranking, terms } = ranked;
    const quoted = query.phrases.length > 0;
    const found = hitsOf(pool, ranking, normalizedName(text), accepts, quoted ? undefined : likeness);
    const hits = quoted
      ? withPhrases(found, query, this.#readSkill)
      : found.some(({ byMeaning }) => !byMeaning)
        ? found
        : withMeaning(hitsInsideWords(pool, text, accepts), found);
    return { hits, nearest: hits.length > 0 ? [] : nearestTo(pool, ranking, text, accepts), terms };
  }

  /**
   * Returns all skills that share a term with a prompt or are near it by meaning, best first and without a cut-off. `fits` is true
   * for those that `search` would return. Skills that are not indexed are left out: see `prepare`.
   */
  relevant(
    skills: readonly Skill[],
    prompt: string,
    likeness?: Likeness,
  ): readonly { readonly skill: Skill; readonly fits: boolean }[] {
    if (this.#closing.signal.aborted) return [];
    const pool = this.#storedPool(skills) ?? this.#guarded.use((index) => makePool(skills, index));
    return relevantOf(pool, this.#rank(pool, parseQuery(prompt), false).ranking, likeness);
  }

  /** How many skills `relevant` leaves out. */
  unindexed(skills: readonly Skill[]): number {
    if (this.#closing.signal.aborted || this.#storedPool(skills)) return 0;
    return this.#indexer.missing(skills).length;
  }

  /**
   * Indexes missing skills in slices, so that the next search is fast. Calls run one after the other.
   *
   * @param takeBreak - That of the work this is a part of. Default: its own.
   */
  async prepare(skills: readonly Skill[], takeBreak: () => Promise<void> = createBreaks()): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted || this.#storedPool(skills)) return;
    // One after the other, so that no skill is indexed twice.
    const run = this.#preparing.then(async () => {
      if (signal.aborted || this.#storedPool(skills)) return;
      // First: what it empties is indexed again.
      this.#guarded.use((index) => index.emptyWhenStale(skills.length, Date.now()));
      while (!signal.aborted && !(await this.#indexAndKeep(skills, takeBreak)));
    });
    this.#preparing = run.catch(() => undefined);
    await run;
  }

  /** A skill with another SKILL.md, for a search; undefined when that text has no header. */
  propose(skill: Skill, text: string): Skill | undefined {
    const bytes = Buffer.from(text);
    const { header } = parseSkill(text, skill.file, skill.id);
    if (!header) return undefined;
    const digest = digestOf(bytes);
    const proposed = { ...skill, ...header, digest, bytes: bytes.length };
    this.#proposals.set(proposed, bytes);
    return proposed;
  }

  /** Stops `prepare`, and closes the database. */
  close(): void {
    this.#closing.abort();
    this.#guarded.close();
  }

  #completePool(skills: readonly Skill[]): Pool {
    const stored = this.#storedPool(skills);
    if (stored) return stored;
    this.#indexer.index(skills);
    return this.#keepPool(skills);
  }

  /** A pool stays valid when documents are added: their numbers are outside its arrays. */
  #storedPool(skills: readonly Skill[]): Pool | undefined {
    return this.#guarded.use((index) => {
      index.catchUp();
      const stored = this.#pools.get(skills);
      return stored?.of === index && stored.generation === index.generation() ? stored.pool : undefined;
    });
  }

  /** In slices. @returns false when the index was emptied or replaced meanwhile: then it has to be done again. */
  async #indexAndKeep(skills: readonly Skill[], takeBreak: () => Promise<void>): Promise<boolean> {
    const { signal } = this.#closing;
    const started = this.#guarded.use((index) => {
      index.catchUp();
      return { of: index, generation: index.generation() };
    });
    if (!(await this.#indexer.indexSlowly(skills, signal, takeBreak))) return true;
    const steps = this.#guarded.use((index) => poolSteps(skills, index));
    for (;;) {
      const step = this.#guarded.use((index) => {
        index.catchUp();
        return index === started.of && index.generation() === started.generation ? steps.next() : undefined;
      });
      if (!step) return false;
      if (step.done) {
        this.#pools.set(skills, { ...started, pool: step.value });
        return true;
      }
      await takeBreak();
      if (signal.aborted) return true;
    }
  }

  #keepPool(skills: readonly Skill[]): Pool {
    return this.#guarded.use((index) => {
      const pool = makePool(skills, index);
      this.#pools.set(skills, { of: index, generation: index.generation(), pool });
      return pool;
    });
  }

  #rank(pool: Pool, query: Query, corrected: boolean): Ranked {
    return this.#guarded.use((index) =>
      index.atOnce(() => {
        const { found, terms } = lookUpTerms(query, pool, index, corrected);
        return { of: index, ranking: rankPool(pool, found), terms };
      }),
    );
  }
}

// --- internal ---

interface StoredPool {
  readonly of: TextIndex;
  readonly generation: number;
  readonly pool: Pool;
}

interface Ranked {
  readonly of: TextIndex;
  readonly ranking: Ranking;
  readonly terms: ReadonlySet<string>;
}

/**
 * The hits that contain every phrase of the query. If there are none: all hits, or no hits when the query has only phrases.
 */
function withPhrases(
  hits: readonly SearchHit[],
  { phrases, onlyPhrases }: Query,
  readSkill: (skill: Skill) => Buffer,
): readonly SearchHit[] {
  const kept = hits.slice(0, MAX_READ).filter(({ skill }) => {
    const header = folded(headerText(skill));
    const rest = phrases.filter((phrase) => !header.includes(phrase));
    if (rest.length === 0) return true;
    const body = folded(bodyIfThere(skill, readSkill) ?? '');
    return rest.every((phrase) => body.includes(phrase));
  });
  return kept.length > 0 || onlyPhrases ? kept : hits;
}

function folded(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ');
}

/** Hits inside words first, then hits by meaning. */
function withMeaning(inside: readonly SearchHit[], near: readonly SearchHit[]): readonly SearchHit[] {
  const found = new Set(inside.map(({ skill }) => skill));
  const most = inside.at(-1)?.score ?? 1;
  const others = near.filter(({ skill }) => !found.has(skill));
  return [...inside, ...others.map((hit) => ({ ...hit, score: Math.min(hit.score, most) }))];
}
