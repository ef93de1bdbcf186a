import { takeBreak } from '../../../../lib/breaks/index.ts';
import { oneLine } from '../../../../lib/text/index.ts';
import { claimsPrecedence } from '../../inspect/fields.ts';
import type { Skill } from '../../skill/skill.ts';
import { Searcher } from '../searcher.ts';
import type { TakenOver } from '../types.ts';

/** A skill is the best hit where it shares many words: of 1,800 real skills, all were among the first 13. */
const MAX_TRIED = 50;
/** For indexing and trying together. */
const MAX_MS = 5000;

/**
 * The descriptions of other skills for which the proposed skill becomes the best hit beside the skill itself. Compares
 * lines of the catalog, because models choose by them. The index is in memory: nothing of a proposal is stored.
 */
export async function takenOver(
  skills: readonly Skill[],
  present: Skill | undefined,
  proposed: Skill,
): Promise<TakenOver> {
  const until = performance.now() + MAX_MS;
  const others = skills.filter(({ id }) => id !== proposed.id).map(lineOf);
  const [before, after] = [present && lineOf(present), lineOf(proposed)];
  const [now, then] = [before ? [...others, before] : others, [...others, after]];
  const lines = new Searcher({ readSkill: () => Buffer.alloc(0) });
  // Ends `prepare`.
  const timer = setTimeout(() => lines.close(), MAX_MS).unref();
  for (const pool of [now, then]) await lines.prepare(pool);
  clearTimeout(timer);
  const bestBeside = (pool: readonly Skill[], other: Skill): Skill | undefined =>
    lines.search(pool, other.description, (one) => one !== other).hits[0]?.skill;
  const nearest = lines.relevant(then, proposed.description).filter(({ skill }) => skill !== after);
  const ids: string[] = [];
  let tried = 0;
  for (const { skill } of nearest.slice(0, MAX_TRIED)) {
    await takeBreak();
    if (performance.now() > until) break;
    if (bestBeside(then, skill) === after && (!before || bestBeside(now, skill) !== before)) ids.push(skill.id);
    tried += 1;
  }
  const found = {
    skills: ids,
    tried,
    cut: performance.now() > until,
    others: others.length,
    claimsAll: claimsPrecedence(proposed.description),
  };
  return { ...found, text: textOf(found) };
}

// --- internal ---

function lineOf(skill: Skill): Skill {
  return { ...skill, remote: true };
}

const MAX_NAMED = 10;

function textOf({ skills, tried, cut, others, claimsAll }: Omit<TakenOver, 'text'>): string {
  const named = skills.slice(0, MAX_NAMED).map((id) => oneLine(id, 60));
  const more = skills.length > MAX_NAMED ? ` and ${skills.length - MAX_NAMED} more` : '';
  return [
    ...(claimsAll
      ? [
          `The description asks to be taken for every task, or before other skills: it competes with all ${others} others.`,
        ]
      : []),
    skills.length > 0
      ? `The search now finds it best, beside the skill itself, for the description of ${skills.length} other skill(s): ${named.join(', ')}${more}.`
      : 'The search finds it best for no other description for which it was not best before.',
    tried === 0 && !cut
      ? `None of the ${others} others shares a word with it.`
      : `Tried: the ${tried} that share most with it, of ${others}${cut ? '; then the time was over' : ''}.`,
  ].join(' ');
}
