/** Exports that the command needs in addition to index.ts. Not an export of the package. */
import type { TurnContext } from 'skill-registry/kernel';
import type { Snapshot } from './catalog/snapshot.ts';
import type { Disabling } from './config/set-disabled.ts';
import { nearestIds } from './search/names.ts';
import type { SeenSkill } from './show/who-sees.ts';

export type * from './api.ts';
export type { ValidationProfile } from './config/config.ts';
export { configOfUntrustedRoot } from './config/untrusted-config.ts';
export { countsOf, describeClaims, describeResult, describeResults, shownProposal } from './evaluate/describe.ts';
export {
  describeBlocks,
  describeFindings,
  describeProposals,
  describeRevisions,
  describeStats,
} from './propose/describe.ts';
export type { AgentView, SeenSkill } from './show/who-sees.ts';
export { NOT_INSPECTED } from './trust/reasons.ts';
export type { SkillFinding } from './validate/validate-skill.ts';

/** Ids of the catalog that are most like a text, best first. */
export function nearestSkills({ byId }: Snapshot, skillId: string): readonly string[] {
  return nearestIds(byId.keys(), skillId);
}

// Rarely used: their modules are loaded when they are called.

/** As `setDisabled` of config/set-disabled.ts. */
export async function setDisabled(
  root: string,
  skill: Disabling,
  isDisabled: boolean,
): Promise<{ readonly file: string; readonly changed: boolean }> {
  return (await import('./config/set-disabled.ts')).setDisabled(root, skill, isDisabled);
}

/** As `whoSees` of show/who-sees.ts. */
export async function whoSees(snapshot: Snapshot, agents: readonly TurnContext[]): Promise<readonly SeenSkill[]> {
  return (await import('./show/who-sees.ts')).whoSees(snapshot, agents);
}
