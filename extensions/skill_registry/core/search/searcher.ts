import { takeBreak } from '../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../lib/digest/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import {
  createBatch,
  createGuardedIndex,
  type GuardedIndex,
  type OpenBatch,
  type TextIndex,
} from '../../../../lib/text-index/index.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import { parseSkill } from '../skill/parse-skill.ts';
import type { Skill } from '../skill/skill.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { bodyIfThere, documentKey, documentOf, headerKey, headerText } from './document.ts';
import {
  type Accepts,
  type Found,
  hitsInHeaders,
  hitsInsideWords,
  hitsOf,
  nearestTo,
  type RelevantSkill,
  relevantOf,
  type SearchHit,
} from './hits.ts';
import { normalizedName } from './names.ts';
import { makePool, type Pool } from './pool.ts';
import { lookUpTerms, parseQuery, type Query } from './query.ts';
import { type Ranking, rankPool, reorderByPairs } from './rank.ts';
import type { Likeness } from './types.ts';

export interface SearchAnswer extends Found {
  /** Up to three similar ids when nothing was found; else empty. */
  readonly nearest: readonly string[];
  readonly terms: ReadonlySet<string>;
  /** Skills that were left out because no phrase of their bodies may be told, those with all phrases first. */
  readonly untold: readonly Skill[];
}

export interface SearcherOptions {
  /** Called on first use; `close` closes the database. Default: the index is in memory. */
  readonly database?: () => SqliteDatabase;
  readonly removeDatabase?: () => void;
  /** The bytes of SKILL.md; may throw. */
  readonly readSkill: (skill: Skill) => Buffer;
}

const MAX_HITS = 200;
/** Phrases are looked for in this many of the best hits; the others are left out. */
const MAX_READ = 1000;
/** Characters written in one transaction: larger batches rewrite fewer rows. */
const BATCH_CHARACTERS = 500_000;
/** Skills in one transaction, and in one row: of headers, some ten milliseconds. */
const MOST_AT_ONCE = 512;

export class Searcher {
  /** Of skills that `withText` made. */
  readonly #texts = new WeakMap<Skill, Buffer>();
  /** Skills that could not be read; the next snapshot may have new objects for them. */
  readonly #unreadable = new WeakSet<Skill>();
  readonly #readSkill: (skill: Skill) => Buffer;
  readonly #guarded: GuardedIndex;
  readonly #pools = new WeakMap<readonly Skill[], StoredPool>();
  #preparing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor({ database, removeDatabase, readSkill }: SearcherOptions) {
    this.#readSkill = (skill) => this.#texts.get(skill) ?? readSkill(skill);
    this.#guarded = createGuardedIndex(database, removeDatabase);
  }

  /**
   * Of skills that are not indexed yet (`prepare`), the header counts. The same array again is faster.
   * @param mayTell - Whether it may be told that a body has a quoted phrase. Default: always.
   */
  search(
    skills: readonly Skill[],
    text: string,
    accepts?: Accepts,
    likeness?: Likeness,
    mayTell: Accepts = () => true,
  ): SearchAnswer {
    const query = parseQuery(text);
    // When the file fails, all of this runs again with another index.
    const { pool, ranking } = this.#guarded.use((index) => {
      const all = this.#poolOf(index, skills);
      return { pool: all, ranking: rankedIn(index, all, query, true, accepts) };
    });
    const quoted = query.phrases.length > 0;
    const most = quoted ? MAX_READ : MAX_HITS;
    const found = hitsOf(pool, ranking, normalizedName(text), most, accepts, quoted ? undefined : likeness);
    const untold: Skill[] = [];
    const answer = quoted
      ? this.#withPhrases(found, query, mayTell, untold)
      : found.hits.some(({ byMeaning }) => !byMeaning)
        ? found
        : withMeaning(hitsWithoutWords(pool, text, accepts), found);
    const terms = new Set(ranking.terms.map(({ term }) => term));
    return { ...answer, nearest: answer.total > 0 ? [] : nearestTo(pool, ranking, text, accepts), terms, untold };
  }

  /** Best first; of skills that are not indexed yet (`prepare`), the header counts. */
  relevant(skills: readonly Skill[], prompt: string, likeness?: Likeness): readonly RelevantSkill[] {
    if (this.#isClosed) return [];
    return this.#guarded.use((index) => {
      const pool = this.#poolOf(index, skills);
      return relevantOf(pool, rankedIn(index, pool, parseQuery(prompt), false), likeness);
    });
  }

  /** Number of skills of which only the header counts. */
  unindexed(skills: readonly Skill[]): number {
    if (this.#isClosed || this.#isReady(skills)) return 0;
    return this.#guarded.use((index) => this.#missing(index, skills).length);
  }

  /** Indexes missing skills, with breaks. */
  async prepare(skills: readonly Skill[]): Promise<void> {
    if (this.#isClosed || this.#isReady(skills)) return;
    // Calls run one after the other, so that no skill is indexed twice.
    const run = this.#preparing.then(() => this.#indexSlowly(skills));
    this.#preparing = run.catch(() => undefined);
    await run;
  }

  /** Indexes the headers of skills of which nothing is indexed, if there is much to index, with breaks. */
  async prepareHeaders(skills: readonly Skill[]): Promise<void> {
    if (this.#isClosed || this.#isReady(skills)) return;
    const missing = this.#guarded.use((index) => {
      const all = this.#missing(index, skills);
      return isLittle(all) ? [] : all.filter((skill) => documentOf(index, skill) === undefined);
    });
    await this.#index(missing, addHeader);
  }

  /** The skill as it would be with this SKILL.md, for a search; undefined when the text has no header. */
  withText(skill: Skill, text: string): Skill | undefined {
    const bytes = Buffer.from(text);
    const { header } = parseSkill(text, skill.file, skill.id);
    if (!header) return undefined;
    const other = { ...skill, ...header, digest: digestOf(bytes), bytes: bytes.length };
    this.#texts.set(other, bytes);
    return other;
  }

  close(): void {
    this.#isClosed = true;
    this.#guarded.close();
  }

  #isReady(skills: readonly Skill[]): boolean {
    const isStored = this.#guarded.use((index) => this.#storedPool(index, skills) !== undefined);
    return isStored && this.#pools.get(skills)?.size === undefined;
  }

  /** A whole one stays valid when documents are added: their numbers are outside its arrays. */
  #storedPool(index: TextIndex, skills: readonly Skill[]): Pool | undefined {
    index.catchUp();
    const stored = this.#pools.get(skills);
    if (stored?.of !== index || stored.generation !== index.generation()) return undefined;
    return stored.size === undefined || stored.size === index.size() ? stored.pool : undefined;
  }

  /** Indexes what is missing if that is little; else only its headers, which needs no file. */
  #poolOf(index: TextIndex, skills: readonly Skill[]): Pool {
    const stored = this.#storedPool(index, skills);
    if (stored) return stored;
    const missing = this.#missing(index, skills);
    const isWhole = isLittle(missing);
    const batch = createBatch();
    for (const skill of missing) {
      if (isWhole) this.#addTo(batch, skill);
      else if (documentOf(index, skill) === undefined) addHeader(batch, skill);
    }
    written(index, batch);
    const pool = makePool(skills, index);
    const size = isWhole ? undefined : index.size();
    this.#pools.set(skills, { of: index, generation: index.generation(), size, pool });
    return pool;
  }

  async #indexSlowly(skills: readonly Skill[]): Promise<void> {
    if (this.#isClosed || this.#isReady(skills)) return;
    const missing = this.#guarded.use((index) => {
      // First, because what this empties is indexed again below.
      index.emptyWhenStale(skills.length, Date.now());
      return this.#missing(index, skills);
    });
    await this.#index(missing, (batch, skill) => this.#addTo(batch, skill));
    if (!this.#isClosed) this.#guarded.use((index) => this.#poolOf(index, skills));
  }

  async #index(skills: readonly Skill[], add: (batch: OpenBatch, skill: Skill) => void): Promise<void> {
    let batch = createBatch();
    for (const [done, skill] of skills.entries()) {
      await takeBreak(done, skills.length);
      if (this.#isClosed) return;
      add(batch, skill);
      const isFull = batch.characters() >= BATCH_CHARACTERS || batch.documents.length >= MOST_AT_ONCE;
      if (isFull) batch = this.#guarded.use((index) => written(index, batch));
    }
    this.#guarded.use((index) => written(index, batch));
  }

  #missing(index: TextIndex, skills: readonly Skill[]): readonly Skill[] {
    index.catchUp();
    return skills.filter((skill) => !this.#unreadable.has(skill) && index.numberOf(documentKey(skill)) === undefined);
  }

  #addTo(batch: OpenBatch, skill: Skill): void {
    const text = skill.remote ? '' : withFallback(() => this.#unchangedText(skill), undefined);
    if (text === undefined) this.#unreadable.add(skill);
    else batch.add(documentKey(skill), headerText(skill), bodyOf(text));
  }

  /** Undefined when SKILL.md has changed since the snapshot. */
  #unchangedText(skill: Skill): string | undefined {
    const bytes = this.#readSkill(skill);
    // A source of the host program may use digests of another kind.
    const isComparable = /^sha256:[0-9a-f]{64}$/.test(skill.digest);
    return isComparable && digestOf(bytes) !== skill.digest ? undefined : bytes.toString('utf8');
  }

  /** Keeps hits with every phrase. If there are none: keeps all, or none for a query of phrases only. */
  #withPhrases(found: Found, { phrases, onlyPhrases }: Query, mayTell: Accepts, untold: Skill[]): Found {
    const hits = found.hits.filter(({ skill }) => {
      const header = folded(headerText(skill));
      const rest = phrases.filter((phrase) => !header.includes(phrase));
      if (rest.length === 0) return true;
      const body = folded(bodyIfThere(skill, this.#readSkill) ?? '');
      const hasAll = rest.every((phrase) => body.includes(phrase));
      if (mayTell(skill)) return hasAll;
      untold.splice(hasAll ? 0 : untold.length, 0, skill);
      return false;
    });
    return hits.length > 0 || onlyPhrases ? { hits, total: hits.length } : found;
  }
}

// --- internal ---

interface StoredPool {
  readonly of: TextIndex;
  readonly generation: number;
  /** Of the index, while it has only the headers of some. */
  readonly size: number | undefined;
  readonly pool: Pool;
}

function isLittle(missing: readonly Skill[]): boolean {
  return missing.reduce((sum, { bytes }) => sum + bytes, 0) <= BATCH_CHARACTERS;
}

function addHeader(batch: OpenBatch, skill: Skill): void {
  batch.add(headerKey(skill), headerText(skill), '');
}

function written(index: TextIndex, batch: OpenBatch): OpenBatch {
  if (batch.documents.length > 0) index.add(batch);
  return createBatch();
}

function rankedIn(index: TextIndex, pool: Pool, query: Query, corrected: boolean, accepts?: Accepts): Ranking {
  const skillAt = (position: number): Skill => pool.skills[position] as Skill;
  return index.atOnce(() => {
    const ranking = rankPool(pool, lookUpTerms(query, pool, index, corrected), query.terms.length);
    const accepted = (position: number): boolean => accepts?.(skillAt(position)) !== false;
    return reorderByPairs(ranking, query.pairs, accepted, (position) =>
      index.pairsOf(documentOf(index, skillAt(position)) ?? -1),
    );
  });
}

/** For a query of which no skill has an indexed word. */
function hitsWithoutWords(pool: Pool, text: string, accepts: Accepts | undefined): readonly SearchHit[] {
  const inside = hitsInsideWords(pool, text, accepts);
  return inside.length > 0 ? inside : hitsInHeaders(pool, text, accepts);
}

function folded(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ');
}

function withMeaning(inside: readonly SearchHit[], near: Found): Found {
  const found = new Set(inside.map(({ skill }) => skill));
  const most = inside.at(-1)?.score ?? 1;
  const others = near.hits.filter(({ skill }) => !found.has(skill));
  const hits = [...inside, ...others.map((hit) => ({ ...hit, score: Math.min(hit.score, most) }))];
  return { hits, total: hits.length + near.total - near.hits.length };
}
