import { takeBreak } from '../../../lib/breaks/index.ts';
import { digestOf } from '../../../lib/digest/index.ts';
import {
  createBatch,
  createGuardedIndex,
  type GuardedIndex,
  type OpenBatch,
  type TextIndex,
} from '../../../lib/text-index/index.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import { parseSkill } from '../skill/parse-skill.ts';
import type { Skill } from '../skill/skill.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { bodyIfThere, documentKey, headerText } from './document.ts';
import { hitsInsideWords, hitsOf, nearestTo, relevantOf, type SearchHit } from './hits.ts';
import type { Likeness } from './meaning/likeness.ts';
import { normalizedName } from './names.ts';
import { makePool, type Pool } from './pool.ts';
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
  /** Opens the database of the cache on first use; `close` closes it. Default: the index is in memory. */
  readonly database?: () => SqliteDatabase;
  /** Removes a damaged file of the cache. Default: nothing is removed. */
  readonly removeDatabase?: () => void;
  /** The bytes of SKILL.md; may throw. */
  readonly readSkill: (skill: Skill) => Buffer;
}

/** For phrases, at most this many of the best hits are read; the others are left out. */
const MAX_READ = 1000;
/** Characters of the documents that are written in one transaction: the more, the fewer rows are written twice. */
const BATCH_CHARACTERS = 500_000;

/** Finds skills for a query or a prompt. */
export class Searcher {
  readonly #proposals = new WeakMap<Skill, Buffer>();
  /** Skills that could not be read. The next snapshot may have new objects for them. */
  readonly #unreadable = new WeakSet<Skill>();
  readonly #readSkill: (skill: Skill) => Buffer;
  readonly #guarded: GuardedIndex;
  readonly #pools = new WeakMap<readonly Skill[], StoredPool>();
  #preparing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor({ database, removeDatabase, readSkill }: SearcherOptions) {
    this.#readSkill = (skill) => this.#proposals.get(skill) ?? readSkill(skill);
    this.#guarded = createGuardedIndex(database, removeDatabase);
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
    // When the file fails meanwhile, all of it is done again with another index.
    const { pool, ranking, terms } = this.#guarded.use((index) => {
      const all = this.#completePool(index, skills);
      return { pool: all, ...rankedIn(index, all, query, true) };
    });
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
    if (this.#isClosed) return [];
    return this.#guarded.use((index) => {
      const pool = this.#storedPool(index, skills) ?? makePool(skills, index);
      return relevantOf(pool, rankedIn(index, pool, parseQuery(prompt), false).ranking, likeness);
    });
  }

  /** How many skills `relevant` leaves out. */
  unindexed(skills: readonly Skill[]): number {
    if (this.#isClosed || this.#isReady(skills)) return 0;
    return this.#guarded.use((index) => this.#missing(index, skills).length);
  }

  /** Indexes missing skills, with breaks, so that the next search is fast. Calls run one after the other. */
  async prepare(skills: readonly Skill[]): Promise<void> {
    if (this.#isClosed || this.#isReady(skills)) return;
    // One after the other, so that no skill is indexed twice.
    const run = this.#preparing.then(() => this.#indexSlowly(skills));
    this.#preparing = run.catch(() => undefined);
    await run;
  }

  /** A skill with another SKILL.md, for a search; undefined when that text has no header. */
  propose(skill: Skill, text: string): Skill | undefined {
    const bytes = Buffer.from(text);
    const { header } = parseSkill(text, skill.file, skill.id);
    if (!header) return undefined;
    const proposed = { ...skill, ...header, digest: digestOf(bytes), bytes: bytes.length };
    this.#proposals.set(proposed, bytes);
    return proposed;
  }

  /** Stops `prepare`, and closes the database. */
  close(): void {
    this.#isClosed = true;
    this.#guarded.close();
  }

  #isReady(skills: readonly Skill[]): boolean {
    return this.#guarded.use((index) => this.#storedPool(index, skills)) !== undefined;
  }

  /** A pool stays valid when documents are added: their numbers are outside its arrays. */
  #storedPool(index: TextIndex, skills: readonly Skill[]): Pool | undefined {
    index.catchUp();
    const stored = this.#pools.get(skills);
    return stored?.of === index && stored.generation === index.generation() ? stored.pool : undefined;
  }

  #completePool(index: TextIndex, skills: readonly Skill[]): Pool {
    const stored = this.#storedPool(index, skills);
    if (stored) return stored;
    let batch = createBatch();
    for (const skill of this.#missing(index, skills)) {
      this.#addTo(batch, skill);
      if (batch.characters() >= BATCH_CHARACTERS) batch = written(index, batch);
    }
    written(index, batch);
    const pool = makePool(skills, index);
    this.#pools.set(skills, { of: index, generation: index.generation(), pool });
    return pool;
  }

  async #indexSlowly(skills: readonly Skill[]): Promise<void> {
    if (this.#isClosed || this.#isReady(skills)) return;
    const missing = this.#guarded.use((index) => {
      // First: what it empties is indexed again.
      index.emptyWhenStale(skills.length, Date.now());
      return this.#missing(index, skills);
    });
    let batch = createBatch();
    for (const skill of missing) {
      await takeBreak();
      if (this.#isClosed) return;
      this.#addTo(batch, skill);
      if (batch.characters() >= BATCH_CHARACTERS) batch = this.#guarded.use((index) => written(index, batch));
    }
    this.#guarded.use((index) => {
      written(index, batch);
      // Indexes again what was emptied or lost meanwhile.
      this.#completePool(index, skills);
    });
  }

  /** Those that are not indexed, and could be. */
  #missing(index: TextIndex, skills: readonly Skill[]): readonly Skill[] {
    index.catchUp();
    return skills.filter((skill) => !this.#unreadable.has(skill) && index.numberOf(documentKey(skill)) === undefined);
  }

  /** In about 0.5 ms. */
  #addTo(batch: OpenBatch, skill: Skill): void {
    const text = skillFileText(skill, this.#readSkill);
    if (text === undefined) this.#unreadable.add(skill);
    else batch.add(documentKey(skill), headerText(skill), bodyOf(text));
  }
}

// --- internal ---

interface StoredPool {
  readonly of: TextIndex;
  readonly generation: number;
  readonly pool: Pool;
}

function written(index: TextIndex, batch: OpenBatch): OpenBatch {
  if (batch.documents.length > 0) index.add(batch);
  return createBatch();
}

function rankedIn(
  index: TextIndex,
  pool: Pool,
  query: Query,
  corrected: boolean,
): { readonly ranking: Ranking; readonly terms: ReadonlySet<string> } {
  return index.atOnce(() => {
    const { found, terms } = lookUpTerms(query, pool, index, corrected);
    return { ranking: rankPool(pool, found), terms };
  });
}

/** The text of SKILL.md; empty when it lies on another machine; undefined when the file has changed since the snapshot. */
function skillFileText(skill: Skill, readSkill: (skill: Skill) => Buffer): string | undefined {
  if (skill.remote) return '';
  try {
    const bytes = readSkill(skill);
    // A source of a program may have digests of another kind.
    const comparable = /^sha256:[0-9a-f]{64}$/.test(skill.digest);
    return comparable && digestOf(bytes) !== skill.digest ? undefined : bytes.toString('utf8');
  } catch {
    return undefined;
  }
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

function withMeaning(inside: readonly SearchHit[], near: readonly SearchHit[]): readonly SearchHit[] {
  const found = new Set(inside.map(({ skill }) => skill));
  const most = inside.at(-1)?.score ?? 1;
  const others = near.filter(({ skill }) => !found.has(skill));
  return [...inside, ...others.map((hit) => ({ ...hit, score: Math.min(hit.score, most) }))];
}
