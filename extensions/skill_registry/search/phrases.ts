import type { Skill } from '../skill/skill.ts';
import { bodyIfThere } from './body-if-there.ts';
import { headerText } from './document.ts';
import type { SearchHit } from './hits.ts';
import type { Query } from './query.ts';

/** Bodies that are read for one answer, the best hits first; what follows is left out. */
const MAX_READ = 1000;

/**
 * Hits in which every phrase of the query stands as it is. Where none has them, all hits, unless the query is nothing but
 * phrases.
 */
export function withPhrases(
  hits: readonly SearchHit[],
  { phrases, onlyPhrases }: Query,
  readSkill: (skill: Skill) => Buffer,
): readonly SearchHit[] {
  const kept = hits.slice(0, MAX_READ).filter(({ skill }) => {
    const header = folded(headerText(skill));
    const rest = phrases.filter((phrase) => !header.includes(phrase));
    if (rest.length === 0) return true;
    const body = folded(bodyIfThere(skill, readSkill) ?? '');
    return rest.every((phrase) => body.includes(phrase));
  });
  return kept.length > 0 || onlyPhrases ? kept : hits;
}

// --- internal ---

function folded(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ');
}
