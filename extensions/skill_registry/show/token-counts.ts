import { hash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Problem } from 'skill-registry/kernel';
import { createBackgroundBreaks, createBreaks } from '../../../lib/breaks/index.ts';
import type { SqliteDatabase } from '../../../lib/sqlite/index.ts';
import { loadTokenCounter } from '../../../lib/text/index.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import type { Skill } from '../skill/skill.ts';
import type { Cache, CachePart } from '../store/cache.ts';
import { BULLETS } from './formats.ts';
import type { TokenCounts } from './types.ts';

/** Token counts by digest: a content is counted once, however often the catalog is refreshed or a process starts. */
export interface SkillTokenCounts {
  /** What is counted, and what is not yet as far as `options` go. A body that cannot be read any more counts 0. */
  count(snapshot: Snapshot, options: CountOptions): Promise<ReadonlyMap<string, TokenCounts>>;
  /**
   * Counts everything, a little at a time; first the bodies that may be over the limit. Most of it begins ten seconds after the
   * first call. The next call takes the place of one that is under way.
   */
  countInBackground(snapshot: Snapshot, signal: AbortSignal, onLarge: () => void): Promise<void>;
  /** SKILL_TOO_LONG for every counted body over the limit; the skill stays usable. */
  problems(snapshot: Snapshot): readonly Problem[];
  /** Keeps what was counted for the next process. */
  flush(): void;
}

export interface CountOptions {
  readonly bodies: boolean;
  /** Nothing is counted when more skills than this are not counted yet. */
  readonly atMost: number;
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
/** So many counts may be lost when a process ends. */
const KEEP_EVERY = 500;

export function createTokenCounts(limit: number, readSkill: (skill: Skill) => Buffer, cache: Cache): SkillTokenCounts {
  const store = new CountStore(cache);
  let restsUntil: number | undefined;
  let current = new AbortController();
  return {
    async count({ skills }, { bodies, atMost }) {
      const missing = skills.filter((skill) => !isCounted(skill, bodies, store));
      const takeBreak = createBreaks();
      for (const skill of missing.length <= atMost ? missing : []) {
        await takeBreak();
        await countLine(skill, store);
        if (bodies) await countBody(skill, store, readSkill);
      }
      store.keep(skills);
      const known = (skill: Skill): TokenCounts => {
        const { l1 = null, l2 = null } = store.get(skill) ?? {};
        return { l1, l2 };
      };
      return new Map(skills.map((skill) => [skill.id, known(skill)]));
    },
    async countInBackground({ skills }, ended, onLarge) {
      restsUntil ??= performance.now() + REST_MS;
      // Whoever waited for the catalog before this one has nothing left to wait for.
      current.abort();
      current = new AbortController();
      const signal = AbortSignal.any([ended, current.signal]);
      const takeBreak = createBackgroundBreaks();
      for (const skill of skills) {
        // A token is at least one byte, so most bodies are certainly not over the limit.
        if (skill.bytes <= limit || isCounted(skill, true, store)) continue;
        await takeBreak();
        if (signal.aborted) return;
        await countBody(skill, store, readSkill);
      }
      onLarge();
      // To load the tokenizer stops everything for a moment, and the first turn is about to come.
      if (skills.every((one) => isCounted(one, true, store)) || !(await waited(restsUntil, signal))) return;
      for (const [index, skill] of skills.filter((one) => !isCounted(one, true, store)).entries()) {
        await takeBreak();
        if (signal.aborted) return;
        await countLine(skill, store);
        await countBody(skill, store, readSkill);
        if (index % KEEP_EVERY === KEEP_EVERY - 1) store.keep(skills);
      }
      store.keep(skills);
    },
    problems: ({ skills }) =>
      skills.flatMap((skill) => {
        // Few can be, and to look up the others takes time.
        const tokens = skill.bytes > limit ? (store.get(skill)?.l2 ?? 0) : 0;
        return tokens > limit ? [tooLong(skill, tokens, limit)] : [];
      }),
    flush: () => store.flush(),
  };
}

// --- internal ---

interface KnownCounts {
  readonly l1?: number;
  readonly l2?: number;
}

/** Token counts by content, kept in the cache. */
class CountStore {
  readonly #cache: Cache;
  #known: Map<string, KnownCounts> | undefined;
  readonly #fresh = new Map<string, Skill>();

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  get(skill: Skill): KnownCounts | undefined {
    return this.#all().get(keyOf(skill));
  }

  /** Beside what is known already. @param lasts - For the next process as well. */
  set(skill: Skill, counts: KnownCounts, lasts: boolean): void {
    const key = keyOf(skill);
    this.#all().set(key, { ...this.#all().get(key), ...counts });
    if (lasts) this.#fresh.set(key, skill);
    else this.#fresh.delete(key);
  }

  /** Writes what is new. @param skills - Of the catalog: the counts of others are forgotten when there are many. */
  keep(skills: readonly Skill[]): void {
    this.flush();
    const all = this.#all();
    if (all.size <= skills.length + MAX_OLD) return;
    const wanted = new Set(skills.map(keyOf));
    const old = [...all.keys()].filter((key) => !wanted.has(key));
    for (const key of old) all.delete(key);
    this.#cache.use((database) => forget(database, old));
  }

  /** Writes what is new and forgets nothing. */
  flush(): void {
    if (this.#fresh.size > 0) this.#cache.use((database) => this.#write(database));
    this.#fresh.clear();
  }

  #all(): Map<string, KnownCounts> {
    this.#known ??= this.#cache.look(readCounts) ?? new Map();
    return this.#known;
  }

  #write(database: SqliteDatabase): void {
    const put = database.prepare('INSERT OR REPLACE INTO token_counts (digest, id, l1, l2) VALUES (?, ?, ?, ?)');
    database.transaction(() => {
      for (const [key, { digest, id }] of this.#fresh) {
        const { l1 = null, l2 = null } = this.#all().get(key) ?? {};
        put.run(digest, id, l1, l2);
      }
    });
  }
}

interface CountRow {
  readonly digest: string;
  readonly id: string;
  readonly l1: number | null;
  readonly l2: number | null;
}

/** A digest holds no blank. */
function keyOf({ digest, id }: Skill): string {
  return `${digest} ${id}`;
}

function readCounts(database: SqliteDatabase): Map<string, KnownCounts> {
  const rows = database.prepare<CountRow>('SELECT digest, id, l1, l2 FROM token_counts').all();
  return new Map(
    rows.map(({ digest, id, l1, l2 }) => [
      `${digest} ${id}`,
      { ...(l1 === null ? {} : { l1 }), ...(l2 === null ? {} : { l2 }) },
    ]),
  );
}

function forget(database: SqliteDatabase, keys: readonly string[]): void {
  const remove = database.prepare('DELETE FROM token_counts WHERE digest = ? AND id = ?');
  database.transaction(() => {
    for (const key of keys) {
      const blank = key.indexOf(' ');
      remove.run(key.slice(0, blank), key.slice(blank + 1));
    }
  });
}

function isCounted(skill: Skill, withBody: boolean, store: CountStore): boolean {
  const known = store.get(skill);
  return known?.l1 !== undefined && (!withBody || known.l2 !== undefined);
}

async function countLine(skill: Skill, store: CountStore): Promise<void> {
  if (store.get(skill)?.l1 !== undefined) return;
  store.set(skill, { l1: (await loadTokenCounter())(`${BULLETS.entry(skill)}\n`) }, true);
}

async function countBody(skill: Skill, store: CountStore, readSkill: (skill: Skill) => Buffer): Promise<void> {
  if (store.get(skill)?.l2 !== undefined) return;
  const count = await loadTokenCounter();
  try {
    const bytes = readSkill(skill);
    // Changed since the snapshot: the count would stand for another content. The next snapshot has it.
    const isIt = `sha256:${hash('sha256', bytes, 'hex')}` === skill.digest;
    store.set(skill, { l2: count(bodyOf(bytes.toString('utf8'))) }, isIt);
  } catch {
    // Gone since the snapshot; the next one will not have it.
    store.set(skill, { l2: 0 }, false);
  }
}

/** Before what nobody waits for begins, in milliseconds. */
const REST_MS = 10_000;

/** @returns false when it was cut short. */
async function waited(until: number, signal: AbortSignal): Promise<boolean> {
  try {
    await setTimeout(Math.max(0, until - performance.now()), undefined, { signal, ref: false });
    return true;
  } catch {
    return false;
  }
}

function tooLong(skill: Skill, tokens: number, limit: number): Problem {
  const preload = skill.preload ? ' and is not put into prompts, though it is preloaded' : '';
  const message = `The body has ${tokens} tokens, more than limits.skill_tokens (${limit})${preload}. Move detail into references/.`;
  return { code: 'SKILL_TOO_LONG', severity: 'warning', file: skill.file, message, details: { tokens, limit } };
}
