import type { Problem } from 'skill-registry/kernel';
import type { Skill } from '../api.ts';
import type { SkillRegistryConfig } from '../config.ts';

export interface Merged {
  /** One per id, in order of source, then id. */
  readonly skills: readonly Skill[];
  readonly byId: ReadonlyMap<string, Skill>;
  readonly byQualifiedId: ReadonlyMap<string, Skill>;
  /** SKILL_ID_TAKEN, one per loser. */
  readonly problems: readonly Problem[];
}

/** What one source found. */
export interface FoundSkills {
  readonly skills: readonly Skill[];
  /** Lost their id within the source already. */
  readonly losers?: readonly Skill[];
}

/**
 * Joins what the sources found. Of several skills with one id the policy names the winner, by order of source and then of
 * path; under `error` nobody has the id. Losers stay readable by qualified id and each is named in a problem. The same real
 * file, and identical content under one id, is no collision; of two sources that lead to a file the policy says which counts.
 * A source that preloads it does so whichever source has it.
 *
 * @param sources - In order of precedence.
 */
export function mergeSources(
  sources: readonly FoundSkills[],
  collision: SkillRegistryConfig['collision'] = 'first',
): Merged {
  const byQualifiedId = new Map<string, Skill>();
  const candidates = new Map<string, Skill[]>();
  const rank = new Map<Skill, number>();
  const sightings = new Map<string, { readonly skill: Skill; readonly index: number }>();
  const problems: Problem[] = [];
  const preloaded = new Set(
    sources.flatMap(({ skills }) => skills.flatMap((skill) => (skill.preload && skill.realFile) || [])),
  );
  const raised = (skill: Skill): Skill =>
    !skill.preload && skill.realFile && preloaded.has(skill.realFile) ? { ...skill, preload: true } : skill;
  for (const [index, { skills: found, losers = [] }] of sources.entries()) {
    const skills = found.map(raised);
    for (const skill of [...skills, ...losers]) byQualifiedId.set(skill.qualifiedId, skill);
    for (const skill of skills) {
      const place = skill.realFile ?? skill.qualifiedId;
      const known = sightings.get(place);
      if (known && (collision !== 'last' || known.index === index)) continue;
      // Put behind all others.
      sightings.delete(place);
      sightings.set(place, { skill, index });
    }
    for (const loser of losers) {
      const winner = skills.find(({ id }) => id === loser.id);
      if (winner && winner.digest !== loser.digest) problems.push(taken(winner, loser, 'wins in its source'));
    }
  }
  for (const { skill, index } of sightings.values()) {
    rank.set(skill, index);
    candidates.set(skill.id, [...(candidates.get(skill.id) ?? []), skill]);
  }
  const byId = new Map<string, Skill>();
  for (const [id, rivals] of candidates) {
    const winner = (collision === 'last' ? rivals.at(-1) : rivals[0]) as Skill;
    const losers = rivals.filter((skill) => skill.digest !== winner.digest);
    if (collision !== 'error' || losers.length === 0) byId.set(id, winner);
    for (const loser of losers) {
      problems.push(collision === 'error' ? clash(winner, loser) : taken(winner, loser, `comes ${collision}`));
    }
  }
  const skills = [...byId.values()].sort(
    (a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  );
  return { skills, byId, byQualifiedId, problems };
}

// --- internal ---

function taken(winner: Skill, loser: Skill, how: string): Problem {
  const them = winner.dir !== null && loser.dir !== null ? 'the directories' : 'them';
  const message =
    `Another skill "${loser.id}" ${how} (${winner.file}), so this one${named(loser)} is not offered. Rename one of ${them}, ` +
    `or read this one as "${loser.qualifiedId}".`;
  return { code: 'SKILL_ID_TAKEN', severity: 'warning', file: loser.file, message, details: detailsOf(winner, loser) };
}

function clash(first: Skill, second: Skill): Problem {
  const message =
    `Two skills have the id "${second.id}": this one${named(second)} and ${first.file}. As collision is "error", neither is offered. ` +
    `Rename one of them, or read them as "${first.qualifiedId}" and "${second.qualifiedId}".`;
  return { code: 'SKILL_ID_TAKEN', severity: 'error', file: second.file, message, details: detailsOf(first, second) };
}

/** The name it was given, where the id was made of that. */
function named({ id, name }: Skill): string {
  return name === id ? '' : ` (${JSON.stringify(name.slice(0, 80))})`;
}

function detailsOf(winner: Skill, loser: Skill): Readonly<Record<string, unknown>> {
  return { winner: winner.file, loser: loser.file, winner_id: winner.qualifiedId, loser_id: loser.qualifiedId };
}
