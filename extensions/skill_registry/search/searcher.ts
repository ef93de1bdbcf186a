import { createHash } from 'node:crypto';
import { createGuardedIndex, type TextIndex } from '../../../lib/text-index/index.ts';
import { parseSkill } from '../skill/parse-skill.ts';
import type { Skill } from '../skill/skill.ts';
import type { SqliteDatabase } from '../store/open-database.ts';
import { hitsOf, insideWords, nearestTo, relevantOf, type SearchHit } from './hits.ts';
import { createIndexer } from './indexer.ts';
import type { Likeness } from './meaning/likeness.ts';
import { asName } from './name-match.ts';
import { withPhrases } from './phrases.ts';
import { makePool, type Pool } from './pool.ts';
import { parseQuery, type Query } from './query.ts';
import { type Ranking, rankPool } from './rank.ts';
import { soughtTerms } from './sought-terms.ts';

export interface SearchAnswer {
  /** Best first. */
  readonly hits: readonly SearchHit[];
  /** When nothing fits: up to three ids that come nearest. */
  readonly nearest: readonly string[];
  /** The terms that were looked for, corrections included. */
  readonly terms: ReadonlySet<string>;
}

/** Finds skills by what people and models write. */
export interface Searcher {
  /**
   * Skills that fit a query. What is missing in the index is indexed first, in one go.
   *
   * @param skills - What is told of words (how rare they are) is counted over these. The same array costs less.
   * @param accepts - Which of them may be found. Default: all.
   * @param likeness - By meaning, to be fused with what the words say. A phrase in quotes goes by words alone.
   */
  search(
    skills: readonly Skill[],
    query: string,
    accepts?: (skill: Skill) => boolean,
    likeness?: Likeness,
  ): SearchAnswer;
  /**
   * Every skill a prompt has anything to do with, best first. There is no cut-off: a skill that is not shown cannot be chosen.
   * `fits` tells those that `search` would not have cut off. What is not indexed yet is passed over: see `prepare`.
   */
  relevant(
    skills: readonly Skill[],
    prompt: string,
    likeness?: Likeness,
  ): readonly (SearchHit & { readonly fits: boolean })[];
  /** Indexes in slices what is missing, so that the next search need not. Calls run one after the other. */
  prepare(skills: readonly Skill[]): Promise<void>;
  /** A skill as it would be with another SKILL.md, for a search; undefined when that says nothing. */
  propose(skill: Skill, text: string): Skill | undefined;
  /** Ends a run of `prepare`, and closes the database. */
  close(): void;
}

export interface SearcherOptions {
  /** Opens the cache's database, with the tables of `SEARCH_INDEX`, on first use; `close` closes it. Without one it goes on in memory. */
  readonly database: () => SqliteDatabase;
  /** The bytes of SKILL.md; may throw. */
  readonly readSkill: (skill: Skill) => Buffer;
  readonly createBreaks: () => () => Promise<void>;
}

export function createSearcher({ database, readSkill: readStored, createBreaks }: SearcherOptions): Searcher {
  const proposals = new WeakMap<Skill, Buffer>();
  const readSkill = (skill: Skill): Buffer => proposals.get(skill) ?? readStored(skill);
  const guarded = createGuardedIndex(database);
  const indexer = createIndexer(guarded, readSkill);
  const closing = new AbortController();
  const pools = new WeakMap<
    readonly Skill[],
    { readonly of: TextIndex; readonly generation: number; readonly pool: Pool }
  >();
  let preparing: Promise<void> = Promise.resolve();

  /** Documents that come later have numbers it does not know, so it stays true. */
  const knownPool = (skills: readonly Skill[]): Pool | undefined =>
    guarded.use((index) => {
      index.catchUp();
      const known = pools.get(skills);
      return known?.of === index && known.generation === index.generation() ? known.pool : undefined;
    });
  const completePool = (skills: readonly Skill[]): Pool => {
    const known = knownPool(skills);
    if (known) return known;
    indexer.index(skills);
    return keepPool(skills);
  };
  const keepPool = (skills: readonly Skill[]): Pool =>
    guarded.use((index) => {
      const pool = makePool(skills, index);
      pools.set(skills, { of: index, generation: index.generation(), pool });
      return pool;
    });

  const rank = (pool: Pool, query: Query, corrected: boolean): Ranked =>
    guarded.use((index) =>
      index.atOnce(() => {
        const { sought, terms } = soughtTerms(query, pool, index, corrected);
        return { ranking: rankPool(pool, sought), terms };
      }),
    );

  return {
    search(skills, text, accepts, likeness) {
      const query = parseQuery(text);
      const pool = completePool(skills);
      const { ranking, terms } = rank(pool, query, true);
      if (query.phrases.length > 0) {
        const hits = withPhrases(hitsOf(pool, ranking, asName(text), accepts), query, readSkill);
        return { hits, nearest: hits.length > 0 ? [] : nearestTo(pool, ranking, text, accepts), terms };
      }
      const found = hitsOf(pool, ranking, asName(text), accepts, likeness);
      const byWords = found.some(({ byMeaning }) => !byMeaning);
      const hits = byWords ? found : withMeaning(insideWords(pool, text, accepts), found);
      return { hits, nearest: hits.length > 0 ? [] : nearestTo(pool, ranking, text, accepts), terms };
    },
    relevant(skills, prompt, likeness) {
      if (closing.signal.aborted) return [];
      const pool = knownPool(skills) ?? guarded.use((index) => makePool(skills, index));
      return relevantOf(pool, rank(pool, parseQuery(prompt), false).ranking, likeness);
    },
    async prepare(skills) {
      if (closing.signal.aborted || knownPool(skills)) return;
      // One after the other: what the first has indexed, the second need not.
      const run = preparing.then(async () => {
        if (
          closing.signal.aborted ||
          knownPool(skills) ||
          !(await indexer.indexSlowly(skills, createBreaks(), closing.signal))
        )
          return;
        guarded.use((index) => index.emptyWhenStale(skills.length, Date.now()));
        keepPool(skills);
      });
      preparing = run.catch(() => undefined);
      await run;
    },
    propose(skill, text) {
      const bytes = Buffer.from(text);
      const { header } = parseSkill(text, skill.file, skill.id);
      if (!header) return undefined;
      const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
      const proposed = { ...skill, ...header, digest, bytes: bytes.length };
      proposals.set(proposed, bytes);
      return proposed;
    },
    close() {
      closing.abort();
      guarded.close();
    },
  };
}

// --- internal ---

interface Ranked {
  readonly ranking: Ranking;
  readonly terms: ReadonlySet<string>;
}

/** What the words are a part of, then what is only near. */
function withMeaning(inside: readonly SearchHit[], near: readonly SearchHit[]): readonly SearchHit[] {
  const had = new Set(inside.map(({ skill }) => skill));
  const most = inside.at(-1)?.score ?? 1;
  const others = near.filter(({ skill }) => !had.has(skill));
  return [...inside, ...others.map((hit) => ({ ...hit, score: Math.min(hit.score, most) }))];
}
