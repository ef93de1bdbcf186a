import type { ChangeToApprove, History, InspectedChange, Management, WritePolicy, Writes } from './types.ts';

export type { Revision } from './types.ts';

declare module '../../core/api.ts' {
  interface SkillRegistry {
    /** Past contents of skills. */
    readonly history: History;
  }

  interface SkillRegistryAdmin {
    /** Changes skills without review. */
    readonly management: Management;
    /** Whether and how a file below a source may be written; undefined outside. @param path - Absolute, real. */
    writePolicy(path: string): WritePolicy | undefined;
    /**
     * `blocks`: what would hold the skill. Show them to the person who decides, give `digest` as `inspected` to the
     * decision, then pass both to `allowShown`.
     * @throws as `Proposals.get` and `History.revisions`.
     */
    blockFindingsAfter(change: ChangeToApprove): Promise<InspectedChange>;
    /**
     * Allows what a person saw before deciding. Other files than those that were inspected stay held.
     * @param actor - Nothing is allowed unless `by` is a person (`person:ada`).
     * @returns why the skill is held; null when it is not.
     */
    allowShown(
      change: ChangeToApprove,
      shown: InspectedChange,
      actor: { readonly by: string; readonly reason?: string | undefined },
    ): Promise<string | null>;
  }
}

declare module '../../core/config/config.ts' {
  interface SkillRegistryConfig {
    readonly writes: Writes;
  }
}
