import { join } from 'node:path';
import { takeBreak } from '../../../../../lib/breaks/index.ts';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { listed, oneLine, plural } from '../../../../../lib/text/index.ts';
import type { Snapshot } from '../../../core/catalog/snapshot.ts';
import type { Core } from '../../../core/feature.ts';
import { Searcher } from '../../../core/search/searcher.ts';
import { parseSkill } from '../../../core/skill/parse-skill.ts';
import type { Skill } from '../../../core/skill/skill.ts';
import { presentSource } from '../../../core/sources/source.ts';
import { exists } from '../../history/skill-location.ts';
import { claimsPrecedence } from '../../proposals/checks/fields.ts';
import type { RetrievalChange } from '../../proposals/propose/types.ts';
import type { OverlapReport, TakenOver } from '../types.ts';
import { neighbourhoods } from './neighbourhoods.ts';
import { type ReadIfThere, triggerQueries } from './trigger-queries.ts';

export interface Overlap {
  /** Trigger queries are rows of `evals/trigger-eval.json` and `trigger_keywords`. */
  overlap(): Promise<OverlapReport>;
  /** Trigger queries whose first hit would change if a skill, or a new skill, had this SKILL.md. Changes nothing. */
  retrievalEffect(skillId: string, text: string): Promise<readonly RetrievalChange[]>;
  /** Changes and stores nothing. Null when the description is the same, or models do not see the skill. */
  takenOver(skillId: string, text: string): Promise<TakenOver | null>;
  /**
   * Null when nothing is found. Changes nothing.
   * @param as - Searches as if this skill, or a new one, had this SKILL.md. Default: all skills as they are.
   * @param until - In the time of `performance.now()`: after it, queries are not tried and get undefined.
   */
  firstHits(
    queries: readonly string[],
    as?: { readonly skillId: string; readonly text: string },
    until?: number,
  ): Promise<readonly (Skill | null | undefined)[]>;
}

export function createOverlap({ assertOpen, catalog, scopes, searcher }: Core): Overlap {
  const visibleSkills = (): readonly Skill[] => {
    assertOpen();
    return scopes.visible({});
  };
  // Most skills have no trigger queries; this check takes a tenth of the time of a read that fails.
  const readIfThere: ReadIfThere = (skill, path, maxBytes) =>
    skill.dir === null || exists(join(skill.dir, path))
      ? presentSource(skill, catalog.sources()).readResource(skill, path, maxBytes)
      : undefined;
  const firstHits: Overlap['firstHits'] = async (queries, as, until) => {
    const skills = visibleSkills();
    if (!as) return firstHitsIn(searcher, skills, queries, until);
    const skill = skillNamedOrNew(catalog.snapshot(), as.skillId, as.text);
    const proposed = searcher.withText(skill, as.text);
    // Models cannot find a skill that they do not see; a text without a header removes the skill.
    const shown = proposed?.modelInvocable ? [proposed] : [];
    const isSeen = skills.includes(skill);
    const seen = isSeen ? skills.flatMap((one) => (one === skill ? shown : one)) : [...skills, ...shown];
    return firstHitsIn(searcher, seen, queries, until);
  };
  return {
    firstHits,
    async overlap() {
      const skills = visibleSkills();
      const { queries, problems } = await triggerQueries(skills, readIfThere);
      const groups = await neighbourhoods(skills);
      const texts = queries.map(({ query }) => query);
      const hits = await firstHitsIn(searcher, skills, texts);
      const stolen = queries.flatMap(({ skill, query, shouldTrigger }, at) => {
        const found = hits[at]?.id ?? null;
        return (found === skill.id) === shouldTrigger ? [] : [{ query, skillId: skill.id, shouldTrigger, found }];
      });
      return { neighbourhoods: groups, queries: queries.length, stolen, problems };
    },
    async retrievalEffect(skillId, text) {
      const { queries } = await triggerQueries(visibleSkills(), readIfThere);
      // Most catalogs have none; then nothing needs to be indexed.
      if (queries.length === 0) return [];
      const texts = queries.map(({ query }) => query);
      const now = await firstHits(texts);
      const then = await firstHits(texts, { skillId, text });
      return queries.flatMap(({ skill, query, shouldTrigger }, at) => {
        const [before, after] = [now[at]?.id ?? null, then[at]?.id ?? null];
        // Who only says that a query is not for it does not care which other one it finds.
        const isAbout = shouldTrigger || before === skill.id || after === skill.id;
        return before === after || !isAbout ? [] : [{ query, skillId: skill.id, shouldTrigger, before, after }];
      });
    },
    async takenOver(skillId, text) {
      const proposed = searcher.withText(skillNamedOrNew(catalog.snapshot(), skillId, text), text);
      const present = catalog.snapshot().byId.get(skillId);
      if (!proposed?.modelInvocable || proposed.description === present?.description) return null;
      return takenOver(visibleSkills(), present, proposed);
    },
  };
}

/** With this SKILL.md, and without a folder. Undefined when the text cannot be read as a skill. */
export function proposedSkill(id: string, text: string): Skill | undefined {
  const file = `${id}/SKILL.md`;
  const { header } = parseSkill(text, file, id);
  const identity = { id, qualifiedId: `proposed:${id}`, source: 'proposed', file, dir: null, realFile: null };
  return header && { ...header, ...identity, digest: digestOf(text), bytes: Buffer.byteLength(text) };
}

// --- internal ---

/** With breaks: one search takes milliseconds, and without `prepare` it would index everything at once. */
async function firstHitsIn(
  searcher: Searcher,
  skills: readonly Skill[],
  queries: readonly string[],
  until: number = Number.POSITIVE_INFINITY,
): ReturnType<Overlap['firstHits']> {
  await searcher.prepare(skills);
  const hits: (Skill | null | undefined)[] = [];
  for (const query of queries) {
    await takeBreak();
    const isTried = performance.now() < until;
    const [first] = isTried ? searcher.search(skills, query).hits : [];
    hits.push(isTried ? (first && !first.weak ? first.skill : null) : undefined);
  }
  return hits;
}

/** For an unknown id: a proposed skill. A text without a header gets an empty one. */
function skillNamedOrNew({ byId }: Snapshot, id: string, text: string): Skill {
  return byId.get(id) ?? proposedSkill(id, text) ?? (proposedSkill(id, `# ${id}`) as Skill);
}

/** A skill is the best hit where it shares many words: of 1,800 real skills, all were among the first 13. */
const MAX_TRIED = 50;
/** For indexing and trying together. */
const MAX_MS = 5000;

/**
 * The descriptions of other skills for which the proposed skill becomes the best hit beside the skill itself. Compares
 * lines of the catalog, because models choose by them. The index is in memory: nothing of a proposal is stored.
 */
async function takenOver(skills: readonly Skill[], present: Skill | undefined, proposed: Skill): Promise<TakenOver> {
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

function lineOf(skill: Skill): Skill {
  return { ...skill, remote: true };
}

function textOf({ skills, tried, cut, others, claimsAll }: Omit<TakenOver, 'text'>): string {
  const named = listed(skills.map((id) => oneLine(id, 60)));
  return [
    ...(claimsAll
      ? [
          `The description asks to be taken for every task, or before other skills: it competes with all ${others} others.`,
        ]
      : []),
    skills.length > 0
      ? `The search now finds it best, beside the skill itself, for the description of ${plural(skills.length, 'other skill')}: ${named}.`
      : 'The search finds it best for no other description for which it was not best before.',
    tried === 0 && !cut
      ? `None of the ${others} others shares a word with it.`
      : `Tried: the ${tried} that share most with it, of ${others}${cut ? '; then the time was over' : ''}.`,
  ].join(' ');
}
