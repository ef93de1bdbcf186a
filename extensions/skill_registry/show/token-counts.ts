import { hash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Problem } from 'skill-registry/kernel';
import { createBackgroundBreaks, createBreaks } from '../../../lib/breaks/index.ts';
import { loadTokenCounter } from '../../../lib/text/index.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import { bodyOf } from '../skill/frontmatter.ts';
import type { Skill } from '../skill/skill.ts';
import type { Cache } from '../store/cache.ts';
import { BULLETS } from './formats.ts';
import { createTokenCountStore } from './token-count-store.ts';

export interface TokenCounts {
  /** Its line in the catalog; null when it was not counted. */
  readonly l1: number | null;
  /** Its body; null when it was not counted. */
  readonly l2: number | null;
}

/** Token counts by digest: a content is counted once, however often the catalog is refreshed or a process starts. */
export interface TokenLedger {
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

/** So many counts may be lost when a process ends. */
const KEEP_EVERY = 500;

export function createTokenLedger(limit: number, readSkill: (skill: Skill) => Buffer, cache: Cache): TokenLedger {
  const store = createTokenCountStore(cache);
  let restsUntil: number | undefined;
  let current = new AbortController();
  const countLine = async (skill: Skill): Promise<void> => {
    if (store.get(skill)?.l1 !== undefined) return;
    store.set(skill, { l1: (await loadTokenCounter())(`${BULLETS.entry(skill)}\n`) }, true);
  };
  const countBody = async (skill: Skill): Promise<void> => {
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
  };
  const isCounted = (skill: Skill, withBody: boolean): boolean => {
    const known = store.get(skill);
    return known?.l1 !== undefined && (!withBody || known.l2 !== undefined);
  };
  return {
    async count({ skills }, { bodies, atMost }) {
      const missing = skills.filter((skill) => !isCounted(skill, bodies));
      const takeBreak = createBreaks();
      for (const skill of missing.length <= atMost ? missing : []) {
        await takeBreak();
        await countLine(skill);
        if (bodies) await countBody(skill);
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
        if (skill.bytes <= limit || isCounted(skill, true)) continue;
        await takeBreak();
        if (signal.aborted) return;
        await countBody(skill);
      }
      onLarge();
      // To load the tokenizer stops everything for a moment, and the first turn is about to come.
      if (skills.every((one) => isCounted(one, true)) || !(await waited(restsUntil, signal))) return;
      for (const [index, skill] of skills.filter((one) => !isCounted(one, true)).entries()) {
        await takeBreak();
        if (signal.aborted) return;
        await countLine(skill);
        await countBody(skill);
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
