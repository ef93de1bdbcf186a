import type { TurnContext } from 'skill-registry/kernel';
import type { Management } from '../../features/history/types.ts';
import type { Workflows } from '../../features/packs/workflow/types.ts';
import type { Proposals } from '../../features/proposals/propose/types.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { SkillRegistryConfig } from '../config/config.ts';
import type { Reading } from '../read/types.ts';
import type { ListQuery, SkillList } from '../search/types.ts';
import type { Skill } from '../skill/skill.ts';

export interface SkillsForTools extends Pick<Reading, 'read' | 'readResource' | 'resources'> {
  list(query?: ListQuery, turn?: TurnContext): SkillList;
  /** Resolves when `list` with this query has nothing left to prepare. */
  prepareSearch(query?: string): Promise<void>;
  snapshot(): Snapshot;
  refresh(): Promise<unknown>;
  /** What the agent sees. */
  visible(turn: TurnContext): readonly Skill[];
  readonly workflows: Pick<Workflows, 'at' | 'follow' | 'hasEvents'>;
  readonly proposals: Pick<Proposals, 'list' | 'propose'>;
  readonly management: Management;
  readonly config: Pick<SkillRegistryConfig, 'writes' | 'catalog'>;
}
