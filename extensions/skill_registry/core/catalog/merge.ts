import type { Problem } from 'skill-registry/kernel';
import { eachWithBreaks, takeBreak } from '../../../../lib/breaks/index.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { Skill } from '../skill/skill.ts';
import type { SourceScan } from '../sources/source.ts';
import type { Snapshot } from './snapshot.ts';

export type Merged = Pick<Snapshot, 'skills' | 'byId' | 'byQualifiedId' | 'problems'>;

/**
 * The collision policy chooses one skill per id, by order of source, then path; `error` chooses none. Losers are
 * reported and stay readable by qualified id. One real file in several sources, or equal content, is no collision.
 * `files`: digests of other files by qualified id; default: all are equal.
 */
export async function mergeSources(
  sources: readonly Pick<SourceScan, 'skills' | 'losers'>[],
  collision: SkillRegistryConfig['collision'] = 'first',
  files: ReadonlyMap<string, string> = new Map(),
): Promise<Merged> {
  const isCopy = (one: Skill, other: Skill): boolean =>
    one.digest === other.digest && files.get(one.qualifiedId) === files.get(other.qualifiedId);
  const byQualifiedId = new Map<string, Skill>();
  const candidates = new Map<string, Candidate>();
  const problems: Problem[] = [];
  const preloaded = new Set<string>();
  for (const { skills } of sources)
    for (const { preload, realFile } of skills) if (preload && realFile) preloaded.add(realFile);
  const preloadedIfAny = (skill: Skill): Skill =>
    !skill.preload && skill.realFile && preloaded.has(skill.realFile) ? { ...skill, preload: true } : skill;
  for (const [index, { skills: found, losers = [] }] of sources.entries()) {
    const skills = preloaded.size > 0 ? found.map(preloadedIfAny) : found;
    const own = new Map<string, Skill>();
    await eachWithBreaks(skills, (skill) => {
      byQualifiedId.set(skill.qualifiedId, skill);
      if (losers.length > 0 && !own.has(skill.id)) own.set(skill.id, skill);
      const fileKey = skill.realFile ?? skill.qualifiedId;
      const earlier = candidates.get(fileKey);
      if (earlier && (collision !== 'last' || earlier.index === index)) return;
      if (earlier) candidates.delete(fileKey);
      candidates.set(fileKey, { skill, index });
    });
    await eachWithBreaks(losers, (loser) => {
      byQualifiedId.set(loser.qualifiedId, loser);
      const winner = own.get(loser.id);
      if (winner && !isCopy(winner, loser)) problems.push(taken(winner, loser, 'wins in its source'));
    });
  }
  const byId = new Map<string, Skill>();
  const winners: Candidate[] = [];
  await eachWithBreaks(await groupsOf(candidates.values(), ({ skill }) => skill.id), ([id, all]) => {
    const winner = all.at(collision === 'last' ? -1 : 0) as Candidate;
    const losers = all.filter(({ skill }) => !isCopy(skill, winner.skill));
    for (const { skill } of losers) {
      const { skill: other } = winner;
      problems.push(collision === 'error' ? clash(other, skill) : taken(other, skill, `comes ${collision}`));
    }
    if (collision === 'error' && losers.length > 0) return;
    const becomesPreloaded =
      !winner.skill.preload && all.some(({ skill }) => skill.preload && isCopy(skill, winner.skill));
    const skill: Skill = becomesPreloaded ? { ...winner.skill, preload: true } : winner.skill;
    if (becomesPreloaded) byQualifiedId.set(skill.qualifiedId, skill);
    byId.set(id, skill);
    winners.push({ ...winner, skill });
  });
  await takeBreak();
  winners.sort((a, b) => a.index - b.index || (a.skill.id < b.skill.id ? -1 : a.skill.id > b.skill.id ? 1 : 0));
  const skills = winners.map(({ skill }) => skill);
  return { skills, byId, byQualifiedId, problems };
}

export async function groupsOf<T>(
  items: Iterable<T>,
  keyOf: (item: T) => string,
): Promise<ReadonlyMap<string, readonly T[]>> {
  const groups = new Map<string, T[]>();
  await eachWithBreaks(items, (item) => {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  });
  return groups;
}

// --- internal ---

interface Candidate {
  readonly skill: Skill;
  readonly index: number;
}

function taken(winner: Skill, loser: Skill, how: string): Problem {
  const them = winner.dir !== null && loser.dir !== null ? 'the directories' : 'them';
  const twins = winner.digest === loser.digest ? ' Their SKILL.md files are equal, their other files are not.' : '';
  const message = `Another skill "${loser.id}" ${how} (${winner.file}), so this one${named(loser)} is not offered.${twins} Rename one of ${them}, or read this one as "${loser.qualifiedId}".`;
  return { code: 'SKILL_ID_TAKEN', severity: 'warning', file: loser.file, message, details: detailsOf(winner, loser) };
}

function clash(first: Skill, second: Skill): Problem {
  const message = `Two skills have the id "${second.id}": this one${named(second)} and ${first.file}. As collision is "error", neither is offered. Rename one of them, or read them as "${first.qualifiedId}" and "${second.qualifiedId}".`;
  return { code: 'SKILL_ID_TAKEN', severity: 'error', file: second.file, message, details: detailsOf(first, second) };
}

function named({ id, name }: Skill): string {
  return name === id ? '' : ` (${JSON.stringify(name.slice(0, 80))})`;
}

function detailsOf(winner: Skill, loser: Skill): Readonly<Record<string, unknown>> {
  return { winner: winner.file, loser: loser.file, winner_id: winner.qualifiedId, loser_id: loser.qualifiedId };
}
