/** Exports that the command needs in addition to index.ts. Not an export of the package. */
import type { TurnContext } from 'skill-registry/kernel';
import type { Snapshot } from './catalog/snapshot.ts';
import type { SeenSkill } from './show/who-sees.ts';

export { configOfUntrustedRoot } from './config/untrusted-config.ts';
export {
  describeBlocks,
  describeFindings,
  describeProposal,
  describeProposals,
  describeRevisions,
  describeStats,
} from './propose/describe.ts';
export type { AgentView, SeenSkill } from './show/who-sees.ts';

// Rarely used: their modules are loaded when they are called.

/** As `whoSees` of show/who-sees.ts. */
export async function whoSees(snapshot: Snapshot, agents: readonly TurnContext[]): Promise<readonly SeenSkill[]> {
  return (await import('./show/who-sees.ts')).whoSees(snapshot, agents);
}
