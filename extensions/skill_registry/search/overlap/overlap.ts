import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { TurnContext } from 'skill-registry/kernel';
import { createBreaks } from '../../../../lib/breaks/index.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { parseSkill } from '../../skill/parse-skill.ts';
import type { Skill } from '../../skill/skill.ts';
import type { Searcher } from '../searcher.ts';
import type { OverlapReport, TakenOver } from '../types.ts';
import { neighbourhoods } from './neighbourhoods.ts';
import { takenOver } from './taken-over.ts';
import { firstHits, type RetrievalChange, stolenQueries, triggerQueries, withText } from './trigger-queries.ts';

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
   * @param until - See `firstHits` in trigger-queries.ts.
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
export async function overlapReport({ visible, searcher, readFile }: OverlapOptions): Promise<OverlapReport> {
  const skills = visible({});
  await searcher.prepare(skills);
  const { queries, problems } = await triggerQueries(skills, readIfThere(readFile), createBreaks());
  const groups = await neighbourhoods(skills, createBreaks());
  return {
    neighbourhoods: groups,
    queries: queries.length,
    stolen: await stolenQueries(searcher, skills, queries, createBreaks()),
    problems,
  };
}

/** As `Overlap.retrievalEffect`. */
export async function retrievalEffect(
  { snapshot, visible, searcher, readFile }: OverlapOptions,
  skillId: string,
  text: string,
): Promise<readonly RetrievalChange[]> {
  const takeBreak = createBreaks();
  const skills = visible({});
  const { queries } = await triggerQueries(skills, readIfThere(readFile), takeBreak);
  // Most catalogs have none, and then nothing needs to be indexed.
  if (queries.length === 0) return [];
  const texts = queries.map(({ query }) => query);
  await searcher.prepare(skills);
  const now = await firstHits(searcher, skills, texts, takeBreak);
  const changed = withText(searcher, skills, skillNamedOrNew(snapshot(), skillId, text), text);
  await searcher.prepare(changed);
  const then = await firstHits(searcher, changed, texts, takeBreak);
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
  const takeBreak = createBreaks();
  const skills = visible({});
  const seen = as ? withText(searcher, skills, skillNamedOrNew(snapshot(), as.skillId, as.text), as.text) : skills;
  // Indexes in slices. A search would index everything at once.
  await searcher.prepare(seen, takeBreak);
  return firstHits(searcher, seen, queries, takeBreak, until);
}

/** As `Overlap.takenOver`. */
export async function takenOverBy(
  { snapshot, visible, searcher }: OverlapOptions,
  skillId: string,
  text: string,
): Promise<TakenOver | null> {
  const skill = skillNamedOrNew(snapshot(), skillId, text);
  const proposed = searcher.propose(skill, text);
  const present = snapshot().byId.get(skillId);
  if (!proposed?.modelInvocable || proposed.description === present?.description) return null;
  return takenOver(visible({}), present, proposed);
}

// --- internal ---

/** Most skills have no trigger queries, and to see that takes a tenth of the time of a read that fails. */
function readIfThere(
  readFile: OverlapOptions['readFile'],
): (...given: Parameters<typeof readFile>) => Buffer | undefined {
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
