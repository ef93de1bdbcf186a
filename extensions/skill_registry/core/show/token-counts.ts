import type { Problem } from 'skill-registry/kernel';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../lib/digest/index.ts';
import { withFallback } from '../../../../lib/errors/index.ts';
import type { SqliteDatabase } from '../../../../lib/sqlite/index.ts';
import { countTokens, countTokensInSlices, loadTokenCounter } from '../../../../lib/text/index.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import { documentKey } from '../search/document.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import type { Skill } from '../skill/skill.ts';
import type { Cache, CachePart } from '../store/cache.ts';
import { BULLETS, type TokenCounter, withShortLines } from './formats.ts';
import type { TokenCounts } from './types.ts';

/** By digest: each content is counted once, also over several refreshes and processes. */
export interface SkillTokenCounts {
  /** Counts what is missing, unless that is more than `atMost`. Changed or unreadable bodies have no count. */
  count(
    snapshot: Snapshot,
    options: { readonly bodies: boolean; readonly atMost: number },
  ): Promise<ReadonlyMap<string, TokenCounts>>;
  /** Loads the tokenizer only for a new body. @param digest - Of the file; undefined when `body` is a part of it. */
  ofBody(skill: Skill, digest: string | undefined, body: string): Promise<number>;
  ofText(text: string): Promise<number>;
  /** Where a text is new, loads the tokenizer and begins again: nothing that `work` does may count twice. */
  counting<T>(work: (count: TokenCounter) => Promise<T>): Promise<T>;
  /** Bodies that may be over the limit, for `problems`. */
  countLong(snapshot: Snapshot, signal: AbortSignal): Promise<void>;
  /** SKILL_TOO_LONG for each counted body over the limit. The skill can still be used. */
  problems(snapshot: Snapshot): readonly Problem[];
  flush(): void;
}

/** The key has the id, because a line has it. Raise the version with any change of tokenizer, line or body. */
export const TOKEN_COUNTS: CachePart = {
  name: 'token_counts',
  version: 4,
  sql: `CREATE TABLE token_counts (
    key TEXT PRIMARY KEY, l1 INTEGER CHECK (l1 BETWEEN 0 AND 1e9), l2 INTEGER CHECK (l2 BETWEEN 0 AND 1e9)
  ) STRICT, WITHOUT ROWID;`,
};

export function createTokenCounts(limit: number, readSkill: (skill: Skill) => Buffer, cache: Cache): SkillTokenCounts {
  const fresh = new Set<string>();
  let read: Map<string, TokenCounts> | undefined;
  const all = (): Map<string, TokenCounts> => {
    read ??= cache.useIfThere(readCounts) ?? new Map();
    return read;
  };
  const countsOf = (skill: Skill): TokenCounts => all().get(documentKey(skill)) ?? NOT_COUNTED;
  const keep = (key: string, counts: TokenCounts): void => {
    all().set(key, counts);
    fresh.add(key);
    if (all().size > MAX_KEPT) flush();
  };
  const note = (skill: Skill, counts: Partial<TokenCounts>): void =>
    keep(documentKey(skill), { ...countsOf(skill), ...counts });
  let tokenizer: TokenCounter | undefined;
  const countText = (text: string): number => {
    const key = `text ${digestOf(text)}`;
    const known = all().get(key)?.l1;
    if (typeof known === 'number') return known;
    if (!tokenizer) throw NEW_TEXT;
    const l1 = tokenizer(text);
    keep(key, { l1, l2: null });
    return l1;
  };
  const counting = async <T>(work: (count: TokenCounter) => Promise<T>): Promise<T> => {
    try {
      return await work(countText);
    } catch (error) {
      if (error !== NEW_TEXT) throw error;
      tokenizer = await loadTokenCounter();
      return work(countText);
    }
  };
  const countLine = async (skill: Skill): Promise<void> => {
    if (countsOf(skill).l1 !== null) return;
    const count = await loadTokenCounter();
    note(skill, { l1: count(`${withShortLines(BULLETS, count).entry(skill)}\n`) });
  };
  const countBody = async (skill: Skill): Promise<void> => {
    if (skill.remote || countsOf(skill).l2 !== null) return;
    const bytes = withFallback(() => readSkill(skill));
    // The next snapshot has the changed file, or none.
    if (!bytes || digestOf(bytes) !== skill.digest) return;
    note(skill, { l2: await countTokensInSlices(bodyOf(bytes.toString('utf8')), takeBreak) });
  };
  const flush = (): void => {
    if (fresh.size === 0) return;
    const news = [...fresh].map((key) => [key, all().get(key) ?? NOT_COUNTED] as const);
    // Most counts are of contents that are gone.
    const isFull = all().size > MAX_KEPT;
    cache.use((database) => {
      const add = database.prepare('INSERT OR REPLACE INTO token_counts (key, l1, l2) VALUES (?, ?, ?)');
      database.transaction(() => {
        if (isFull) database.exec('DELETE FROM token_counts');
        for (const [key, { l1, l2 }] of news) add.run(key, l1, l2);
      });
    });
    if (isFull) read = new Map();
    fresh.clear();
  };
  return {
    async count({ skills }, { bodies, atMost }) {
      const missing = skills.filter((skill) => {
        const { l1, l2 } = countsOf(skill);
        return l1 === null || (bodies && l2 === null && !skill.remote);
      });
      for (const [done, skill] of (missing.length <= atMost ? missing : []).entries()) {
        await takeBreak(done, missing.length);
        await countLine(skill);
        if (bodies) await countBody(skill);
      }
      flush();
      return new Map(skills.map((skill) => [skill.id, countsOf(skill)]));
    },
    ofText: (text) => counting(async (count) => count(text)),
    counting,
    async ofBody(skill, digest, body) {
      // The key of a skill on a server is that of its header: another body may have it.
      if (skill.remote || digest !== skill.digest) return countTokens(body);
      const known = countsOf(skill).l2;
      if (known !== null) return known;
      const l2 = await countTokens(body);
      note(skill, { l2 });
      return l2;
    },
    async countLong({ skills }, signal) {
      for (const skill of skills) {
        await takeBreak();
        if (signal.aborted) return;
        if (mayBeLong(skill, limit)) await countBody(skill);
      }
    },
    problems: ({ skills }) =>
      skills.flatMap((skill) => {
        const tokens = mayBeLong(skill, limit) ? (countsOf(skill).l2 ?? 0) : 0;
        return tokens > limit ? [tooLong(skill, tokens, limit)] : [];
      }),
    flush,
  };
}

// --- internal ---

/** Rows; above this all but the new ones are removed. */
const MAX_KEPT = 100_000;
const NEW_TEXT = new Error('This text was never counted.');
const NOT_COUNTED: TokenCounts = { l1: null, l2: null };

function readCounts(database: SqliteDatabase): Map<string, TokenCounts> {
  const rows = database.prepare<TokenCounts & { readonly key: string }>('SELECT key, l1, l2 FROM token_counts').all();
  return new Map(rows.map(({ key, l1, l2 }) => [key, { l1: countIn(l1), l2: countIn(l2) }]));
}

/** Something else than a count is counted again. */
function countIn(value: number | null): number | null {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? value : null;
}

/** A token has at least one byte: most bodies are certainly not over the limit. */
function mayBeLong({ bytes }: Skill, limit: number): boolean {
  return bytes > limit;
}

function tooLong(skill: Skill, tokens: number, limit: number): Problem {
  const preload = skill.preload ? ' and is not put into prompts, though it is preloaded' : '';
  const message = `The body has ${tokens} tokens, more than limits.skill_tokens (${limit})${preload}. Move detail into references/.`;
  return { code: 'SKILL_TOO_LONG', severity: 'warning', file: skill.file, message, details: { tokens, limit } };
}
