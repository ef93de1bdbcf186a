/** Exports that the command needs in addition to index.ts. Not an export of the package. */
import type { Snapshot } from './catalog/snapshot.ts';
import { nearestIds } from './search/names.ts';

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
export { NOT_INSPECTED } from './trust/reasons.ts';
export type { SkillFinding } from './validate/validate-skill.ts';

/** Ids of the catalog that are most like a text, best first. */
export function nearestSkills({ byId }: Snapshot, skillId: string): readonly string[] {
  return nearestIds(byId.keys(), skillId);
}
