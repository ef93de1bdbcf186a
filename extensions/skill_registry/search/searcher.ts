import { createHash } from 'node:crypto';
import { createGuardedIndex, type GuardedIndex, type TextIndex } from '../../../lib/text-index/index.ts';
import { parseSkill } from '../skill/parse-skill.ts';
import type { Skill } from '../skill/skill.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { bodyIfThere, headerText } from './document.ts';
import { hitsOf, insideWords, nearestTo, relevantOf, type SearchHit } from './hits.ts';
import { createIndexer, type Indexer } from './indexer.ts';
import type { Likeness } from './meaning/likeness.ts';
import { asName } from './names.ts';
import { makePool, type Pool } from './pool.ts';
import { parseQuery, type Query, soughtTerms } from './query.ts';
import { type Ranking, rankPool } from './rank.ts';

export interface SearchAnswer {
  /** Best first. */
  readonly hits: readonly SearchHit[];
  /** When nothing fits: up to three ids that come nearest. */
  readonly nearest: readonly string[];
  /** The terms that were looked for, corrections included. */
  readonly terms: ReadonlySet<string>;
}

export interface SearcherOptions {
  /** Opens the cache's database, with the tables of `SEARCH_INDEX`, on first use; `close` closes it. Without one it goes on in memory. */
  readonly database: () => SqliteDatabase;
  /** The bytes of SKILL.md; may throw. */
  readonly readSkill: (skill: Skill) => Buffer;
}

/** Bodies that are read for one answer to phrases, the best hits first; what follows is left out. */
const MAX_READ = 1000;

/** Finds skills by what people and models write. */
export class Searcher {
  readonly #proposals = new WeakMap<Skill, Buffer>();
  readonly #readSkill: (skill: Skill) => Buffer;
  readonly #guarded: GuardedIndex;
  readonly #indexer: Indexer;
  readonly #closing = new AbortController();
  readonly #pools = new WeakMap<readonly Skill[], KnownPool>();
  #preparing: Promise<void> = Promise.resolve();

  constructor({ database, readSkill }: SearcherOptions) {
    this.#readSkill = (skill) => this.#proposals.get(skill) ?? readSkill(skill);
    this.#guarded = createGuardedIndex(database);
    this.#indexer = createIndexer(this.#guarded, this.#readSkill);
  }

  /**
   * Skills that fit a query. What is missing in the index is indexed first, in one go.
   *
   * @param skills - What is told of words (how rare they are) is counted over these. The same array costs less.
   * @param accepts - Which of them may be found. Default: all.
   * @param likeness - By meaning, to be added to what the words say. A phrase in quotes goes by words alone.
   */
  search(
    skills: readonly Skill[],
    text: string,
    accepts?: (skill: Skill) => boolean,
    likeness?: Likeness,
  ): SearchAnswer {
    const query = parseQuery(text);
    const pool = this.#completePool(skills);
    const { ranking, terms } = this.#rank(pool, query, true);
    const quoted = query.phrases.length > 0;
    const found = hitsOf(pool, ranking, asName(text), accepts, quoted ? undefined : likeness);
    const hits = quoted
      ? withPhrases(found, query, this.#readSkill)
      : found.some(({ byMeaning }) => !byMeaning)
        ? found
        : withMeaning(insideWords(pool, text, accepts), found);
    return { hits, nearest: hits.length > 0 ? [] : nearestTo(pool, ranking, text, accepts), terms };
  }

  /**
   * Every skill a prompt has anything to do with, best first. There is no cut-off: a skill that is not shown cannot be chosen.
   * `fits` tells those that `search` would not have cut off. What is not indexed yet is passed over: see `prepare`.
   */
  relevant(
    skills: readonly Skill[],
    prompt: string,
    likeness?: Likeness,
  ): readonly (SearchHit & { readonly fits: boolean })[] {
    if (this.#closing.signal.aborted) return [];
    const pool = this.#knownPool(skills) ?? this.#guarded.use((index) => makePool(skills, index));
    return relevantOf(pool, this.#rank(pool, parseQuery(prompt), false).ranking, likeness);
  }

  /** Indexes in slices what is missing, so that the next search need not. Calls run one after the other. */
  async prepare(skills: readonly Skill[]): Promise<void> {
    const { signal } = this.#closing;
    if (signal.aborted || this.#knownPool(skills)) return;
    // One after the other: what the first has indexed, the second need not.
    const run = this.#preparing.then(async () => {
      if (signal.aborted || this.#knownPool(skills) || !(await this.#indexer.indexSlowly(skills, signal))) return;
      this.#guarded.use((index) => index.emptyWhenStale(skills.length, Date.now()));
      this.#keepPool(skills);
    });
    this.#preparing = run.catch(() => undefined);
    await run;
  }

  /** A skill as it would be with another SKILL.md, for a search; undefined when that says nothing. */
  propose(skill: Skill, text: string): Skill | undefined {
    const bytes = Buffer.from(text);
    const { header } = parseSkill(text, skill.file, skill.id);
    if (!header) return undefined;
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const proposed = { ...skill, ...header, digest, bytes: bytes.length };
    this.#proposals.set(proposed, bytes);
    return proposed;
  }

  /** Ends a run of `prepare`, and closes the database. */
  close(): void {
    this.#closing.abort();
    this.#guarded.close();
  }

  #completePool(skills: readonly Skill[]): Pool {
    const known = this.#knownPool(skills);
    if (known) return known;
    this.#indexer.index(skills);
    return this.#keepPool(skills);
  }

  /** Documents that come later have numbers it does not know, so it stays true. */
  #knownPool(skills: readonly Skill[]): Pool | undefined {
    return this.#guarded.use((index) => {
      index.catchUp();
      const known = this.#pools.get(skills);
      return known?.of === index && known.generation === index.generation() ? known.pool : undefined;
    });
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
        const { sought, terms } = soughtTerms(query, pool, index, corrected);
        return { ranking: rankPool(pool, sought), terms };
      }),
    );
  }
}

// --- internal ---

interface KnownPool {
  readonly of: TextIndex;
  readonly generation: number;
  readonly pool: Pool;
}

interface Ranked {
  readonly ranking: Ranking;
  readonly terms: ReadonlySet<string>;
}

/**
 * Hits in which every phrase of the query stands as it is. Where none has them, all hits, unless the query is nothing but
 * phrases.
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

/** What the words are a part of, then what is only near. */
function withMeaning(inside: readonly SearchHit[], near: readonly SearchHit[]): readonly SearchHit[] {
  const had = new Set(inside.map(({ skill }) => skill));
  const most = inside.at(-1)?.score ?? 1;
  const others = near.filter(({ skill }) => !had.has(skill));
  return [...inside, ...others.map((hit) => ({ ...hit, score: Math.min(hit.score, most) }))];
}
