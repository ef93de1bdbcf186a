import { hash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Problem } from 'skill-registry/kernel';
import { createBackgroundBreaks, createBreaks } from '../../../lib/breaks/index.ts';
import type { SqliteDatabase } from '../../../lib/sqlite/index.ts';
import { countTokens, countTokensInSlices, loadTokenCounter } from '../../../lib/text/index.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import { documentKey } from '../search/document.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import type { Skill } from '../skill/skill.ts';
import type { Cache, CachePart } from '../store/cache.ts';
import { BULLETS, withShortLines } from './formats.ts';
import type { TokenCounts } from './types.ts';

/** Token counts by digest: each content is counted once, also over several refreshes and processes. */
export interface SkillTokenCounts {
  /** Returns the counts, and counts missing ones within `options`. A body that cannot be read, or has changed since the snapshot, has none. */
  count(snapshot: Snapshot, options: CountOptions): Promise<ReadonlyMap<string, TokenCounts>>;
  /**
   * Tokens of a body that was read: as counted before, by this or an earlier process, so that the tokenizer is loaded only for what is
   * new.
   *
   * @param digest - Of the bytes it was read from; undefined when `body` is not all of the body.
   */
  ofBody(skill: Skill, digest: string | undefined, body: string): Promise<number>;
  /**
   * Counts everything in slices, first the bodies that may be over the limit. The rest begins ten seconds after the first call. A new
   * call ends a running one.
   */
  countInBackground(snapshot: Snapshot, signal: AbortSignal, onLarge: () => void): Promise<void>;
  /** SKILL_TOO_LONG for each counted body over the limit. The skill can still be used. */
  problems(snapshot: Snapshot): readonly Problem[];
  /** Writes new counts to the cache. */
  flush(): void;
}

export interface CountOptions {
  readonly bodies: boolean;
  /** When more skills than this are not counted, nothing is counted. */
  readonly atMost: number;
}

/**
 * The key contains the id, because the line of a skill contains it. Raise the version with another tokenizer, and with any change of
 * the line or the body of a skill.
 */
export const TOKEN_COUNTS: CachePart = {
  name: 'token_counts',
  version: 4,
  sql: `CREATE TABLE token_counts (
    key TEXT PRIMARY KEY, l1 INTEGER CHECK (l1 BETWEEN 0 AND 1e9), l2 INTEGER CHECK (l2 BETWEEN 0 AND 1e9)
  ) STRICT, WITHOUT ROWID;`,
};

/** Counts of removed contents are deleted when there are more than this. */
const MAX_OLD = 20_000;
/** Counts are written after this many, so at most this many are lost when a process ends. */
const KEEP_EVERY = 500;

export function createTokenCounts(limit: number, readSkill: (skill: Skill) => Buffer, cache: Cache): SkillTokenCounts {
  const store = createCountStore(cache);
  let restsUntil: number | undefined;
  let current = new AbortController();
  return {
    async count({ skills }, { bodies, atMost }) {
      const missing = skills.filter((skill) => !isCounted(skill, bodies, store));
      const takeBreak = createBreaks();
      for (const skill of missing.length <= atMost ? missing : []) {
        await takeBreak();
        await countLine(skill, store);
        if (bodies) await countBody(skill, store, readSkill, takeBreak);
      }
      store.keep(skills);
      return new Map(skills.map((skill) => [skill.id, store.get(skill)]));
    },
    async ofBody(skill, digest, body) {
      // The key of a skill on a server is that of its header: another body may have it.
      if (skill.remote || digest !== skill.digest) return countTokens(body);
      const known = store.get(skill).l2;
      if (known !== null) return known;
      const l2 = await countTokens(body);
      store.set(skill, { l2 });
      return l2;
    },
    async countInBackground({ skills }, ended, onLarge) {
      restsUntil ??= performance.now() + REST_MS;
      // Ends the run for the snapshot before.
      current.abort();
      current = new AbortController();
      const signal = AbortSignal.any([ended, current.signal]);
      const takeBreak = createBackgroundBreaks();
      for (const skill of skills) {
        // A token is at least one byte, so most bodies are certainly not over the limit.
        if (skill.bytes <= limit) continue;
        await takeBreak();
        if (signal.aborted) return;
        await countBody(skill, store, readSkill, takeBreak);
      }
      onLarge();
      const missing: Skill[] = [];
      for (const skill of skills) {
        await takeBreak();
        if (!isCounted(skill, true, store)) missing.push(skill);
      }
      // Loading the tokenizer blocks the process for a moment, so it must not delay the first turn.
      if (missing.length === 0 || !(await waited(restsUntil, signal))) return;
      for (const [index, skill] of missing.entries()) {
        await takeBreak();
        if (signal.aborted) return;
        await countLine(skill, store);
        await countBody(skill, store, readSkill, takeBreak);
        if (index % KEEP_EVERY === KEEP_EVERY - 1) store.keep(skills);
      }
      store.keep(skills);
    },
    problems: ({ skills }) =>
      skills.flatMap((skill) => {
        // A body with fewer bytes than the limit cannot be over it, and a lookup takes time.
        const tokens = skill.bytes > limit ? (store.get(skill).l2 ?? 0) : 0;
        return tokens > limit ? [tooLong(skill, tokens, limit)] : [];
      }),
    flush: () => store.flush(),
  };
}

// --- internal ---

/** Counts in memory, with a table for the next process. */
interface CountStore {
  get(skill: Skill): TokenCounts;
  set(skill: Skill, counts: Partial<TokenCounts>): void;
  /** Writes new counts. @param skills - Of the catalog; counts of other skills are deleted when there are many. */
  keep(skills: readonly Skill[]): void;
  /** Writes new counts and deletes none. */
  flush(): void;
}

function createCountStore(cache: Cache): CountStore {
  const fresh = new Set<string>();
  let read: Map<string, TokenCounts> | undefined;
  const all = (): Map<string, TokenCounts> => {
    read ??= cache.useIfThere(readCounts) ?? new Map();
    return read;
  };
  const get = (skill: Skill): TokenCounts => all().get(documentKey(skill)) ?? NOT_COUNTED;
  const write = (sql: string, rows: readonly (readonly (string | number | null)[])[]): void => {
    if (rows.length === 0) return;
    cache.use((database) => {
      const statement = database.prepare(sql);
      database.transaction(() => {
        for (const row of rows) statement.run(...row);
      });
    });
  };
  const flush = (): void => {
    const rows = [...fresh].map((key) => [key, all().get(key)?.l1 ?? null, all().get(key)?.l2 ?? null]);
    fresh.clear();
    write('INSERT OR REPLACE INTO token_counts (key, l1, l2) VALUES (?, ?, ?)', rows);
  };
  return {
    get,
    set(skill, counts) {
      all().set(documentKey(skill), { ...get(skill), ...counts });
      fresh.add(documentKey(skill));
    },
    keep(skills) {
      flush();
      if (all().size <= skills.length + MAX_OLD) return;
      const inUse = new Set(skills.map(documentKey));
      const old = [...all().keys()].filter((key) => !inUse.has(key));
      for (const key of old) all().delete(key);
      write(
        'DELETE FROM token_counts WHERE key = ?',
        old.map((key) => [key]),
      );
    },
    flush,
  };
}

const NOT_COUNTED: TokenCounts = { l1: null, l2: null };

function readCounts(database: SqliteDatabase): Map<string, TokenCounts> {
  const rows = database.prepare<TokenCounts & { readonly key: string }>('SELECT key, l1, l2 FROM token_counts').all();
  return new Map(rows.map(({ key, l1, l2 }) => [key, { l1: countIn(l1), l2: countIn(l2) }]));
}

/** Anything else than a count is counted again. */
function countIn(value: number | null): number | null {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? value : null;
}

function isCounted(skill: Skill, withBody: boolean, store: CountStore): boolean {
  const { l1, l2 } = store.get(skill);
  return l1 !== null && (!withBody || l2 !== null || skill.remote === true);
}

async function countLine(skill: Skill, store: CountStore): Promise<void> {
  if (store.get(skill).l1 !== null) return;
  const count = await loadTokenCounter();
  store.set(skill, { l1: count(`${withShortLines(BULLETS, count).entry(skill)}\n`) });
}

async function countBody(
  skill: Skill,
  store: CountStore,
  readSkill: (skill: Skill) => Buffer,
  takeBreak: () => Promise<void>,
): Promise<void> {
  if (skill.remote || store.get(skill).l2 !== null) return;
  await loadTokenCounter();
  try {
    const bytes = readSkill(skill);
    // A file that has changed since the snapshot has another digest: the next snapshot has it.
    if (`sha256:${hash('sha256', bytes, 'hex')}` !== skill.digest) return;
    store.set(skill, { l2: await countTokensInSlices(bodyOf(bytes.toString('utf8')), takeBreak) });
  } catch {
    // The file was removed after the snapshot.
  }
}

/** Delay before counting in the background, in milliseconds. */
const REST_MS = 10_000;

/** @returns false when `signal` aborted. */
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
