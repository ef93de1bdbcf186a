import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { TurnContext } from 'skill-registry/kernel';
import { takeBreak } from '../../../../lib/breaks/index.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { parseSkill } from '../../skill/parse-skill.ts';
import type { Skill } from '../../skill/skill.ts';
import type { Searcher } from '../searcher.ts';
import type { OverlapReport, RetrievalChange, TakenOver } from '../types.ts';
import { neighbourhoods } from './neighbourhoods.ts';
import { takenOver } from './taken-over.ts';
import { triggerQueries } from './trigger-queries.ts';

/** Which skills compete for the same queries. */
export interface Overlap {
  /** Which skills compete, and for which trigger queries (`evals/trigger-eval.json`, `trigger_keywords`) another skill is found first. */
  overlap(): Promise<OverlapReport>;
  /**
   * Which trigger queries of all skills would have another first hit if a skill, or a new skill, had this SKILL.md. Changes nothing.
   */
  retrievalEffect(skillId: string, text: string): Promise<readonly RetrievalChange[]>;
  /**
   * As `takenOver`, if this skill, or a new skill of this id, had this SKILL.md; null when its description is the same, or models do not
   * see it. Changes and stores nothing.
   */
  takenOver(skillId: string, text: string): Promise<TakenOver | null>;
  /**
   * The first hit of each query among the skills that models see; null when nothing is found. Changes nothing.
   *
   * @param as - Search as if this skill, or a new skill of this id, had this SKILL.md. Default: all skills as they are now.
   * @param until - As `performance.now()` gives it: after that the rest is not tried and is undefined. Default: all are tried.
   */
  firstHits(
    queries: readonly string[],
    as?: { readonly skillId: string; readonly text: string },
    until?: number,
  ): Promise<readonly (Skill | null | undefined)[]>;
}

export interface OverlapOptions {
  readonly snapshot: () => Snapshot;
  /** The skills that a model sees, in order of the catalog. */
  readonly visible: (turn: TurnContext) => readonly Skill[];
  readonly searcher: Searcher;
  /** Reads a file of a skill; throws as `readContained`. */
  readonly readFile: (skill: Skill, path: string, maxBytes: number) => Buffer;
}

/** As `Overlap.overlap`. */
export async function overlapReport(options: OverlapOptions): Promise<OverlapReport> {
  const skills = options.visible({});
  const { queries, problems } = await triggerQueries(skills, readIfThere(options));
  const groups = await neighbourhoods(skills);
  const hits = await firstHitsIn(
    options.searcher,
    skills,
    queries.map(({ query }) => query),
  );
  const stolen = queries.flatMap(({ skill, query, shouldTrigger }, at) => {
    const found = hits[at]?.id ?? null;
    return (found === skill.id) === shouldTrigger ? [] : [{ query, skillId: skill.id, shouldTrigger, found }];
  });
  return { neighbourhoods: groups, queries: queries.length, stolen, problems };
}

/** As `Overlap.retrievalEffect`. */
export async function retrievalEffect(
  options: OverlapOptions,
  skillId: string,
  text: string,
): Promise<readonly RetrievalChange[]> {
  const { queries } = await triggerQueries(options.visible({}), readIfThere(options));
  // Most catalogs have none, and then nothing needs to be indexed.
  if (queries.length === 0) return [];
  const texts = queries.map(({ query }) => query);
  const now = await firstHitsAs(options, texts);
  const then = await firstHitsAs(options, texts, { skillId, text });
  return queries.flatMap(({ skill, query, shouldTrigger }, at) => {
    const [before, after] = [now[at]?.id ?? null, then[at]?.id ?? null];
    return before === after ? [] : [{ query, skillId: skill.id, shouldTrigger, before, after }];
  });
}

/** As `Overlap.firstHits`. */
export async function firstHitsAs(
  { snapshot, visible, searcher }: OverlapOptions,
  ...[queries, as, until]: Parameters<Overlap['firstHits']>
): ReturnType<Overlap['firstHits']> {
  const skills = visible({});
  if (!as) return firstHitsIn(searcher, skills, queries, until);
  const skill = skillNamedOrNew(snapshot(), as.skillId, as.text);
  const proposed = searcher.propose(skill, as.text);
  // Models cannot find a skill that they do not see; a text without a header removes the skill.
  const shown = proposed?.modelInvocable ? [proposed] : [];
  const seen = skills.includes(skill) ? skills.flatMap((one) => (one === skill ? shown : one)) : [...skills, ...shown];
  return firstHitsIn(searcher, seen, queries, until);
}

/** As `Overlap.takenOver`. */
export async function takenOverBy(
  { snapshot, visible, searcher }: OverlapOptions,
  skillId: string,
  text: string,
): Promise<TakenOver | null> {
  const proposed = searcher.propose(skillNamedOrNew(snapshot(), skillId, text), text);
  const present = snapshot().byId.get(skillId);
  if (!proposed?.modelInvocable || proposed.description === present?.description) return null;
  return takenOver(visible({}), present, proposed);
}

// --- internal ---

/** One search takes milliseconds, and without `prepare` it would index everything at once. */
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
    hits.push(isTried ? (searcher.search(skills, query).hits[0]?.skill ?? null) : undefined);
  }
  return hits;
}

/** Most skills have no trigger queries, and to see that takes a tenth of the time of a read that fails. */
function readIfThere({ readFile }: OverlapOptions): (...given: Parameters<typeof readFile>) => Buffer | undefined {
  return (skill, path, maxBytes) =>
    skill.dir === null || mayBeThere(join(skill.dir, path)) ? readFile(skill, path, maxBytes) : undefined;
}

function mayBeThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // The read says why.
    return true;
  }
}

/** For an id that no skill has: a skill that is only proposed; a text without a header gets an empty one. */
function skillNamedOrNew({ byId }: Snapshot, id: string, text: string): Skill {
  const present = byId.get(id);
  if (present) return present;
  const file = `${id}/SKILL.md`;
  const header = parseSkill(text, file, id).header ?? parseSkill(`# ${id}`, file, id).header;
  const identity = { id, qualifiedId: `proposed:${id}`, source: 'proposed', file, dir: null, realFile: null };
  return { ...(header as NonNullable<typeof header>), ...identity, digest: '', bytes: 0 };
}
