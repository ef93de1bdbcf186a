import type { Skill } from '../../skill/skill.ts';
import type { RetrievalChange, StolenQuery } from '../search-types.ts';
import type { Searcher } from '../searcher.ts';
import type { TriggerQuery } from './trigger-queries.ts';

/**
 * Trigger queries whose best hit is not as their author wants it: another skill's where it should be this one, or this one
 * where it should not.
 */
export function stolenQueries(
  searcher: Searcher,
  skills: readonly Skill[],
  queries: readonly TriggerQuery[],
): readonly StolenQuery[] {
  return queries.flatMap(({ skill, query, shouldTrigger }) => {
    const found = searcher.search(skills, query).hits[0]?.skill.id ?? null;
    if ((found === skill.id) === shouldTrigger) return [];
    return [{ query, skill_id: skill.id, should_trigger: shouldTrigger, found }];
  });
}

/**
 * What a new text of one skill would do to search: the trigger queries, of any skill, whose best hit would be another one.
 * Nothing is changed by asking.
 *
 * @param skills - What models see. `skill` need not be among them: it is new, or they do not see it yet.
 * @param text - The whole new SKILL.md; one that says nothing takes the skill away.
 */
export function retrievalEffect(
  searcher: Searcher,
  skills: readonly Skill[],
  queries: readonly TriggerQuery[],
  skill: Skill,
  text: string,
): readonly RetrievalChange[] {
  const proposed = searcher.propose(skill, text);
  // What models would not see is found by none of them.
  const shown = proposed?.modelInvocable ? [proposed] : [];
  const after = skills.includes(skill) ? skills.flatMap((one) => (one === skill ? shown : one)) : [...skills, ...shown];
  const best = (all: readonly Skill[], query: string): string | null =>
    searcher.search(all, query).hits[0]?.skill.id ?? null;
  return queries.flatMap(({ skill: owner, query, shouldTrigger }) => {
    const [now, then] = [best(skills, query), best(after, query)];
    return now === then ? [] : [{ query, skill_id: owner.id, should_trigger: shouldTrigger, before: now, after: then }];
  });
}
