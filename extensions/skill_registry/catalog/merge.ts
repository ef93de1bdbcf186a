import type { Problem } from 'skill-registry/kernel';
import type { Skill } from '../api.ts';

export interface Merged {
  /** One per id, in order of source, then id. */
  readonly skills: readonly Skill[];
  readonly byId: ReadonlyMap<string, Skill>;
  readonly byQualifiedId: ReadonlyMap<string, Skill>;
  /** SKILL_ID_TAKEN, one per loser. */
  readonly problems: readonly Problem[];
}

/**
 * Joins what the sources found. The first skill of an id wins, in order of source and then of path; losers stay readable by
 * qualified id and are named in a problem. The same real directory, and identical content under one id, is no collision.
 *
 * @param sources - Skills of each source, in order of precedence.
 */
export function mergeSources(sources: readonly (readonly Skill[])[]): Merged {
  const byId = new Map<string, Skill>();
  const byQualifiedId = new Map<string, Skill>();
  const seen = new Set<string>();
  const problems: Problem[] = [];
  const skills: Skill[] = [];
  for (const found of sources) {
    const winners: Skill[] = [];
    for (const skill of found) {
      byQualifiedId.set(skill.qualifiedId, skill);
      if (seen.has(skill.dir)) continue;
      seen.add(skill.dir);
      const winner = byId.get(skill.id);
      if (!winner) {
        byId.set(skill.id, skill);
        winners.push(skill);
      } else if (winner.digest !== skill.digest) problems.push(taken(winner, skill));
    }
    skills.push(...winners.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)));
  }
  return { skills, byId, byQualifiedId, problems };
}

// --- internal ---

function taken(winner: Skill, loser: Skill): Problem {
  const message =
    `Another skill "${loser.id}" comes first (${winner.file}), so this one is not offered. Rename one of the directories, ` +
    `or read this one as "${loser.qualifiedId}".`;
  const details = {
    winner: winner.file,
    loser: loser.file,
    winner_id: winner.qualifiedId,
    loser_id: loser.qualifiedId,
  };
  return { code: 'SKILL_ID_TAKEN', severity: 'warning', file: loser.file, message, details };
}
