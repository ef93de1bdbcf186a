import type { SkillTrust } from '../guard/types.ts';
import type { Proposal, Proposals, ProposedFile, TakenProposal } from './propose/types.ts';

export type { Proposal, ProposalInput } from './propose/types.ts';

declare module '../../core/api.ts' {
  interface SkillRegistry {
    /** Proposed changes, open and decided. */
    readonly proposals: Proposals;
  }

  interface SkillRegistryAdmin {
    /**
     * Riskiest first: by the number of `block` findings, then `warn`; then by kind (deletion, new skill, change), then
     * oldest first. Those of one skill stand together, stale ones come last. Inspects the held skills.
     * @throws as `Proposals.list`.
     */
    waiting(): Promise<WaitingForPerson>;
    /** How many proposals `waiting` lists, in about 1 ms. 0 also for an unreadable history: `waiting` says why. */
    waitingProposals(): Promise<number>;
    /** What was proposed for skills whose sources have others decide, as a hub. @param agentId - Only by this agent. */
    takenProposals(agentId?: string, skillId?: string): Promise<TakenProposals>;
    /**
     * For a decision about several at once: `digest` (for `inspected` of `approve`) where a proposal changes the body
     * of SKILL.md alone and nothing is found in it; else why a person has to look at it alone.
     */
    plainChange(proposalId: string): Promise<PlainChange>;
    /** A proposal as a person is shown it, with what other features add. */
    proposalText(proposal: Proposal): Promise<string>;
    /** The file that an approval would write now. @throws PROPOSAL_STALE; INVALID_ARGUMENT for a deletion. */
    proposedFile(proposalId: string): Promise<ProposedFile>;
    /** What other features know of a proposal, for an agent that reviews it. @throws as `Proposals.get`. */
    proposalFacts(proposalId: string): Promise<object>;
  }
}

declare module '../../core/config/config.ts' {
  interface ToolNames {
    readonly propose_skill_update: true;
    readonly list_proposals: true;
    readonly create_skill: true;
  }
}

export type PlainChange = { readonly digest: string; readonly alone?: never } | { readonly alone: string };

export interface TakenProposals {
  /** Newest first, source by source. */
  readonly proposals: readonly TakenProposal[];
  /** Ids of sources that do not answer. */
  readonly away: readonly string[];
}

export interface WaitingForPerson {
  /** Open and stale proposals. */
  readonly proposals: readonly Proposal[];
  /** Why the proposals cannot be read, and `proposals` is empty; null when they can. */
  readonly unreadable: string | null;
  /** Skills that no agent is given. */
  readonly held: readonly SkillTrust[];
}
