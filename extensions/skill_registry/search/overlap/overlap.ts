import type { TurnContext } from 'skill-registry/kernel';
import { createBreaks } from '../../../../lib/breaks/index.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { parseSkill } from '../../skill/parse-skill.ts';
import type { Skill } from '../../skill/skill.ts';
import type { Searcher } from '../searcher.ts';
import type { OverlapReport } from '../types.ts';
import { neighbourhoods } from './neighbourhoods.ts';
import { type RetrievalChange, retrievalEffect, stolenQueries, triggerQueries } from './trigger-queries.ts';

/** Which skills compete for the same queries. */
export interface Overlap {
  /** Which skills compete, and which trigger queries (`evals/trigger-eval.json`, `trigger_keywords`) another skill steals. */
  overlap(): Promise<OverlapReport>;
  /**
   * Which trigger queries, of any skill, would find another skill first if one, or a new one, had this SKILL.md. Changes
   * nothing.
   */
  retrievalEffect(skillId: string, text: string): Promise<readonly RetrievalChange[]>;
}

export interface OverlapOptions {
  readonly snapshot: () => Snapshot;
  /** What a model sees, in order of the catalog. */
  readonly visible: (turn: TurnContext) => readonly Skill[];
  readonly searcher: Searcher;
  /** A file of a skill; throws as `readContained` of the kernel. */
  readonly readFile: (skill: Skill, path: string, maxBytes: number) => Buffer;
}

/** Which skills compete, and what a change to one of them would do to the others. */
export function createOverlap({ snapshot, visible, searcher, readFile }: OverlapOptions): Overlap {
  return {
    async overlap(): Promise<OverlapReport> {
      const skills = visible({});
      await searcher.prepare(skills);
      const { queries, problems } = await triggerQueries(skills, readFile, createBreaks());
      const groups = await neighbourhoods(skills, createBreaks());
      return {
        neighbourhoods: groups,
        queries: queries.length,
        stolen: stolenQueries(searcher, skills, queries),
        problems,
      };
    },
    async retrievalEffect(skillId, text): Promise<readonly RetrievalChange[]> {
      const skill = snapshot().byId.get(skillId) ?? newSkill(skillId, text);
      const skills = visible({});
      await searcher.prepare(skills);
      const { queries } = await triggerQueries(skills, readFile, createBreaks());
      return retrievalEffect(searcher, skills, queries, skill, text);
    },
  };
}

// --- internal ---

/** One that is only proposed; without a header it is found by nobody. */
function newSkill(id: string, text: string): Skill {
  const file = `${id}/SKILL.md`;
  const header = parseSkill(text, file, id).header ?? parseSkill(`# ${id}`, file, id).header;
  const identity = { id, qualifiedId: `proposed:${id}`, source: 'proposed', file, dir: null, realFile: null };
  return { ...(header as NonNullable<typeof header>), ...identity, digest: '', bytes: 0 };
}
