import type { Skill } from '../skill/skill.ts';
import type { Cache, CachePart } from '../store/cache.ts';

export interface KnownCounts {
  readonly l1?: number;
  readonly l2?: number;
}

/** Token counts by content, kept in the cache. */
export interface TokenCountStore {
  get(skill: Skill): KnownCounts | undefined;
  /** Beside what is known already. @param lasts - For the next process as well. */
  set(skill: Skill, counts: KnownCounts, lasts: boolean): void;
  /** Writes what is new. @param skills - Of the catalog: the counts of others are forgotten when there are many. */
  keep(skills: readonly Skill[]): void;
  /** Writes what is new and forgets nothing. */
  flush(): void;
}

/**
 * The line of a skill holds its id, so that is part of the key. Raise the version with another tokenizer, and with anything that
 * changes the line of a skill or its body.
 */
export const TOKEN_COUNTS: CachePart = {
  name: 'token_counts',
  version: 1,
  sql: `CREATE TABLE token_counts (
    digest TEXT NOT NULL, id TEXT NOT NULL, l1 INTEGER, l2 INTEGER, PRIMARY KEY (digest, id)
  ) WITHOUT ROWID;`,
};

/** Counts of contents that are no more; then they are cleared away. */
const MAX_OLD = 20_000;

export function createTokenCountStore(cache: Cache): TokenCountStore {
  let known: Map<string, KnownCounts> | undefined;
  const fresh = new Map<string, Skill>();
  const all = (): Map<string, KnownCounts> => {
    known ??= cache.look(readCounts) ?? new Map();
    return known;
  };
  const write = (database: Database): void => {
    const put = database.prepare('INSERT OR REPLACE INTO token_counts (digest, id, l1, l2) VALUES (?, ?, ?, ?)');
    database.transaction(() => {
      for (const [key, { digest, id }] of fresh) {
        const { l1 = null, l2 = null } = all().get(key) ?? {};
        put.run(digest, id, l1, l2);
      }
    });
  };
  const flush = (): void => {
    if (fresh.size > 0) cache.use(write);
    fresh.clear();
  };
  return {
    get: (skill) => all().get(keyOf(skill)),
    set(skill, counts, lasts) {
      const key = keyOf(skill);
      all().set(key, { ...all().get(key), ...counts });
      if (lasts) fresh.set(key, skill);
      else fresh.delete(key);
    },
    keep(skills) {
      flush();
      if (all().size <= skills.length + MAX_OLD) return;
      const wanted = new Set(skills.map(keyOf));
      const old = [...all().keys()].filter((key) => !wanted.has(key));
      for (const key of old) all().delete(key);
      cache.use((database) => forget(database, old));
    },
    flush,
  };
}

// --- internal ---

interface CountRow {
  readonly digest: string;
  readonly id: string;
  readonly l1: number | null;
  readonly l2: number | null;
}

type Database = Parameters<Parameters<Cache['look']>[0]>[0];

/** A digest holds no blank. */
function keyOf({ digest, id }: Skill): string {
  return `${digest} ${id}`;
}

function readCounts(database: Database): Map<string, KnownCounts> {
  const rows = database.prepare<CountRow>('SELECT digest, id, l1, l2 FROM token_counts').all();
  return new Map(
    rows.map(({ digest, id, l1, l2 }) => [
      `${digest} ${id}`,
      { ...(l1 === null ? {} : { l1 }), ...(l2 === null ? {} : { l2 }) },
    ]),
  );
}

function forget(database: Database, keys: readonly string[]): void {
  const remove = database.prepare('DELETE FROM token_counts WHERE digest = ? AND id = ?');
  database.transaction(() => {
    for (const key of keys) {
      const blank = key.indexOf(' ');
      remove.run(key.slice(0, blank), key.slice(blank + 1));
    }
  });
}
