import type { TurnContext } from 'skill-registry/kernel';
import type { OverlapReport, RetrievalChange, Skill, SkillRegistry, Snapshot } from './api.ts';
import { createPace } from './catalog/pace.ts';
import { skillNotFound } from './errors.ts';
import { nearestIds } from './search/nearest-ids.ts';
import { neighbourhoods } from './search/neighbourhoods.ts';
import { retrievalEffect, stolenQueries } from './search/retrieval-effect.ts';
import type { Searcher } from './search/searcher.ts';
import { triggerQueries } from './search/trigger-queries.ts';

export interface OverlapOptions {
  readonly snapshot: () => Snapshot;
  /** What a model sees, in order of the catalog. */
  readonly visible: (turn: TurnContext) => readonly Skill[];
  readonly searcher: Searcher;
  /** A file of a skill; throws as `readContained` of the kernel. */
  readonly readFile: (skill: Skill, path: string, maxBytes: number) => Buffer;
}

/** Which skills compete, and what a change to one of them would do to the others. */
export function createOverlap({
  snapshot,
  visible,
  searcher,
  readFile,
}: OverlapOptions): Pick<SkillRegistry, 'overlap' | 'retrievalEffect'> {
  return {
    async overlap(): Promise<OverlapReport> {
      const skills = visible({});
      await searcher.prepare(skills);
      const { queries, problems } = await triggerQueries(skills, readFile, createPace());
      const groups = await neighbourhoods(skills, createPace());
      return {
        neighbourhoods: groups,
        queries: queries.length,
        stolen: stolenQueries(searcher, skills, queries),
        problems,
      };
    },
    async retrievalEffect(skillId, text): Promise<readonly RetrievalChange[]> {
      const { byId } = snapshot();
      const skill = byId.get(skillId);
      if (!skill) throw skillNotFound(skillId, nearestIds(byId.keys(), skillId));
      const skills = visible({});
      await searcher.prepare(skills);
      const { queries } = await triggerQueries(skills, readFile, createPace());
      return retrievalEffect(searcher, skills, queries, skill, text);
    },
  };
}
