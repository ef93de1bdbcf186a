import type { Problem } from 'skill-registry/kernel';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { Skill } from '../skill/skill.ts';

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
 * A source that preloads it, or a copy of it, does so whichever source has it.
 *
 * @param sources - In order of precedence.
 * @param files - What tells the other files of equal skills apart, by qualified id. Default: they are equal.
 */
export function mergeSources(
  sources: readonly FoundSkills[],
  collision: SkillRegistryConfig['collision'] = 'first',
  files: ReadonlyMap<string, string> = new Map(),
): Merged {
  const isCopy = (one: Skill, other: Skill): boolean =>
    one.digest === other.digest && files.get(one.qualifiedId) === files.get(other.qualifiedId);
  const byQualifiedId = new Map<string, Skill>();
  const sightings = new Map<string, Sighting>();
  const problems: Problem[] = [];
  const preloaded = preloadedFiles(sources);
  const raised = (skill: Skill): Skill =>
    !skill.preload && skill.realFile && preloaded.has(skill.realFile) ? { ...skill, preload: true } : skill;
  for (const [index, { skills: found, losers = [] }] of sources.entries()) {
    const skills = preloaded.size > 0 ? found.map(raised) : found;
    for (const skill of skills) {
      byQualifiedId.set(skill.qualifiedId, skill);
      const place = skill.realFile ?? skill.qualifiedId;
      const known = sightings.get(place);
      if (known && (collision !== 'last' || known.index === index)) continue;
      // Put behind all others.
      if (known) sightings.delete(place);
      sightings.set(place, { skill, index });
    }
    for (const loser of losers) {
      byQualifiedId.set(loser.qualifiedId, loser);
      const winner = skills.find(({ id }) => id === loser.id);
      if (winner && !isCopy(winner, loser)) problems.push(taken(winner, loser, 'wins in its source'));
    }
  }
  const { firsts, rivals } = byRivalry(sightings.values());
  const byId = new Map<string, Skill>();
  const winners: Sighting[] = [];
  for (const [id, first] of firsts) {
    const all = rivals.get(id) ?? [first];
    const winner = (collision === 'last' ? all.at(-1) : first) as Sighting;
    const losers = all.filter(({ skill }) => !isCopy(skill, winner.skill));
    for (const { skill } of losers) {
      const { skill: other } = winner;
      problems.push(collision === 'error' ? clash(other, skill) : taken(other, skill, `comes ${collision}`));
    }
    if (collision === 'error' && losers.length > 0) continue;
    const isRaised = !winner.skill.preload && all.some(({ skill }) => skill.preload && isCopy(skill, winner.skill));
    const skill: Skill = isRaised ? { ...winner.skill, preload: true } : winner.skill;
    if (isRaised) byQualifiedId.set(skill.qualifiedId, skill);
    byId.set(id, skill);
    winners.push({ ...winner, skill });
  }
  winners.sort((a, b) => a.index - b.index || (a.skill.id < b.skill.id ? -1 : a.skill.id > b.skill.id ? 1 : 0));
  const skills = winners.map(({ skill }) => skill);
  return { skills, byId, byQualifiedId, problems };
}

// --- internal ---

interface Sighting {
  readonly skill: Skill;
  /** Of its source. */
  readonly index: number;
}

/** Real files of which some source says so. */
function preloadedFiles(sources: readonly FoundSkills[]): ReadonlySet<string> {
  const files = new Set<string>();
  for (const { skills } of sources) {
    for (const { preload, realFile } of skills) if (preload && realFile) files.add(realFile);
  }
  return files;
}

/** The first of each id, and all of each id that several have. */
function byRivalry(sightings: Iterable<Sighting>): {
  readonly firsts: ReadonlyMap<string, Sighting>;
  readonly rivals: ReadonlyMap<string, readonly Sighting[]>;
} {
  const firsts = new Map<string, Sighting>();
  const rivals = new Map<string, Sighting[]>();
  for (const sighting of sightings) {
    const { id } = sighting.skill;
    const first = firsts.get(id);
    if (!first) firsts.set(id, sighting);
    else rivals.set(id, [...(rivals.get(id) ?? [first]), sighting]);
  }
  return { firsts, rivals };
}

function taken(winner: Skill, loser: Skill, how: string): Problem {
  const them = winner.dir !== null && loser.dir !== null ? 'the directories' : 'them';
  const twins = winner.digest === loser.digest ? ' Their SKILL.md are equal, their other files are not.' : '';
  const message =
    `Another skill "${loser.id}" ${how} (${winner.file}), so this one${named(loser)} is not offered.${twins} Rename one of ${them}, ` +
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
