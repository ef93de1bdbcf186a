import { loadTokenCounter, type Problem } from 'skill-registry/kernel';
import type { Skill, Snapshot, TokenCounts } from './api.ts';
import { createPace } from './catalog/pace.ts';
import { BULLETS } from './context/formats.ts';
import { bodyOf } from './skill/frontmatter.ts';

/** Token counts by digest: a content is counted once, however often the catalog is refreshed. */
export interface TokenLedger {
  /** Counts what is not counted yet. A body that cannot be read any more counts 0. */
  count(snapshot: Snapshot, withBodies: boolean): Promise<ReadonlyMap<string, TokenCounts>>;
  /** Counts only bodies that may be over the limit: a token is at least one byte, so most are certainly not. */
  countLarge(snapshot: Snapshot, signal: AbortSignal): Promise<void>;
  /** SKILL_TOO_LONG for every counted body over the limit; the skill stays usable. */
  problems(snapshot: Snapshot): readonly Problem[];
}

export function createTokenLedger(limit: number, readSkill: (skill: Skill) => Buffer): TokenLedger {
  const bodies = new Map<string, number>();
  const lines = new Map<string, number>();
  const countBody = async (skill: Skill): Promise<number> => {
    const known = bodies.get(skill.digest);
    if (known !== undefined) return known;
    const count = await loadTokenCounter();
    let tokens = 0;
    try {
      tokens = count(bodyOf(readSkill(skill).toString('utf8')));
    } catch {
      // Gone since the snapshot; the next one will not have it.
    }
    bodies.set(skill.digest, tokens);
    return tokens;
  };
  return {
    async count({ skills }, withBodies) {
      const count = await loadTokenCounter();
      const pace = createPace();
      const counts = new Map<string, TokenCounts>();
      for (const skill of skills) {
        await pace();
        const line = `${BULLETS.entry(skill)}\n`;
        const l1 = lines.get(line) ?? count(line);
        lines.set(line, l1);
        const l2 = withBodies ? await countBody(skill) : (bodies.get(skill.digest) ?? null);
        counts.set(skill.id, { l1, l2 });
      }
      return counts;
    },
    async countLarge({ skills }, signal) {
      const pace = createPace();
      for (const skill of skills) {
        if (signal.aborted) return;
        if (skill.bytes <= limit) continue;
        await pace();
        await countBody(skill);
      }
    },
    problems: ({ skills }) =>
      skills.flatMap((skill) => {
        const tokens = bodies.get(skill.digest) ?? 0;
        return tokens > limit ? [tooLong(skill, tokens, limit)] : [];
      }),
  };
}

// --- internal ---

function tooLong(skill: Skill, tokens: number, limit: number): Problem {
  const preload = skill.preload ? ' and is not put into prompts, though it is preloaded' : '';
  const message = `The body has ${tokens} tokens, more than limits.skill_tokens (${limit})${preload}. Move detail into references/.`;
  return { code: 'SKILL_TOO_LONG', severity: 'warning', file: skill.file, message, details: { tokens, limit } };
}
