import { RecentMap } from '../../../../../lib/recent-map/index.ts';
import { abortAfter } from '../../../../../lib/waiting/index.ts';
import type { Elsewhere, Found, SearchHit } from '../../../core/search/hits.ts';
import type { Skill } from '../../../core/skill/skill.ts';
import type { SkillSource } from '../../../core/sources/source.ts';

const WAIT_MS = 500;
const KEPT_QUERIES = 50;
/** Characters. */
const MAX_QUERY = 1000;
/** As of hits by words: a name that equals the query stands before them. */
const MOST = 0.84;
/** Of a weak hit. */
const WEAK = 0.27;

/** Asks hubs, where the bodies of skills are that were not read here yet. */
export function searchOfSources(sources: () => readonly SkillSource[]): Elsewhere {
  const answers = new RecentMap<string, ReadonlyMap<string, ReadonlyMap<string, number> | undefined>>(KEPT_QUERIES);
  const keyOf = (query: string): string => query.trim().slice(0, MAX_QUERY);
  const searching = (skills: readonly Skill[]): readonly SkillSource[] => {
    const all = sources().filter(({ search }) => search);
    if (all.length === 0) return all;
    const away = new Set(skills.flatMap(({ remote, source }) => (remote === 'until-read' ? source : [])));
    return all.filter(({ id }) => away.has(id));
  };
  return {
    async ready(query, skills) {
      const key = keyOf(query);
      const asked = key === '' ? [] : searching(skills);
      if (asked.length === 0) return;
      const signal = abortAfter(WAIT_MS);
      const ask = async (source: SkillSource) =>
        [source.id, await source.search?.(key, signal).catch(() => undefined)] as const;
      answers.set(key, new Map(await Promise.all(asked.map(ask))));
    },
    add(found, query, skills, accepts) {
      const asked = new Set(searching(skills).map(({ id }) => id));
      if (asked.size === 0) return { ...found, pending: 0 };
      const answer = answers.get(keyOf(query));
      const scores = new Map<Skill, number>();
      let pending = 0;
      for (const skill of skills) {
        if (!asked.has(skill.source)) continue;
        const score = answer?.get(skill.source)?.get(skill.qualifiedId);
        if (score !== undefined && accepts(skill)) scores.set(skill, score);
        if (skill.remote === 'until-read' && !answer?.get(skill.source)) pending++;
      }
      return { ...merged(found, scores), pending };
    },
  };
}

// --- internal ---

/** The best first. What was found here and there has the better score of both. */
function merged(found: Found, scores: ReadonlyMap<Skill, number>): Found {
  if (scores.size === 0) return found;
  // Whatever a source says of its own skills: one answer has one scale.
  const scale = Math.max(1, ...[...scores.values()].map((score) => score / MOST));
  const all = new Map<Skill, SearchHit>(found.hits.map((hit) => [hit.skill, hit]));
  let added = 0;
  for (const [skill, given] of scores) {
    const score = Math.min(given / scale, MOST);
    const here = all.get(skill);
    if (!here) added++;
    if (!here || here.score < score) all.set(skill, { skill, score, ...(score < WEAK ? { weak: true } : {}) });
  }
  const sorted = [...all.values()].sort((one, other) => other.score - one.score);
  // All hits are marked as the first one is.
  const { weak } = sorted[0] as SearchHit;
  const hits = sorted.map(({ weak: _, ...hit }): SearchHit => (weak ? { ...hit, weak } : hit));
  return { hits, total: found.total + added };
}
