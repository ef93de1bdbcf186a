import type { Problem, TurnContext } from 'skill-registry/kernel';
import type { Skill } from '../../../core/skill/skill.ts';
import type { Actor, Decider, FileContent } from '../../history/types.ts';
import type { Check } from '../checks/checks.ts';

export type ProposalState = 'open' | 'approved' | 'rejected' | 'stale';

/** Give one of `diff`, `content`, `oldString` with `newString`, and `remove`. */
export interface ProposalInput {
  readonly skillId: string;
  /** `create`: a new skill, with `content` as SKILL.md. `delete`: the whole skill. Default: `update`. */
  readonly kind?: 'update' | 'create' | 'delete' | undefined;
  /** Relative to the skill. Default: SKILL.md. */
  readonly path?: string | undefined;
  /** A unified diff against the present text, as `applyDiff` reads it; at most 256 KiB. */
  readonly diff?: string | undefined;
  /** The whole new text, or a quick function of the present text, whose BOM and line ends are kept. */
  readonly content?: Exclude<FileContent, null> | undefined;
  /** Must occur exactly once in the present text; line ends may differ. */
  readonly oldString?: string | undefined;
  /** Replaces `oldString`; empty removes it. Line ends of the present text are kept. */
  readonly newString?: string | undefined;
  /** Removes the file; not possible for SKILL.md. */
  readonly remove?: true | undefined;
  /** 1-10,000 characters. */
  readonly justification: string;
  /** Errors, test failures, feedback; at most 20,000 characters. */
  readonly evidence?: string | undefined;
  /** `person:ada`. Default: the agent of the turn. */
  readonly author?: string | undefined;
}

export interface ProposalReceipt {
  readonly proposalId: string;
  /** Absolute path of the report for people. It is never read back. Empty where others decide, on a hub. */
  readonly file: string;
  readonly state: ProposalState;
  /** Tells the author who decides, where that is not this registry. */
  readonly message?: string;
  /** Tells the author that the change hides the skill from models, and so from its author. */
  readonly warning?: string;
}

export interface Recommendation {
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly verdict: 'approve' | 'reject';
  readonly reason: string;
}

export interface Proposal {
  readonly id: string;
  readonly state: ProposalState;
  readonly kind: 'update' | 'create' | 'delete';
  readonly skillId: string;
  readonly source: string;
  readonly path: string;
  /** Digest of the file that it changes, or of the skill that it deletes; null for a new file. */
  readonly base: string | null;
  /** `sha256:...`; changes with every edit. Pass it to `approve` to approve exactly what was shown. */
  readonly version: string;
  readonly diff: string;
  /** Whether a person can edit its text. False for a decided one, a removal, a stale new skill, or a removed skill. */
  readonly editable: boolean;
  readonly justification: string;
  readonly evidence: string | null;
  readonly checks: readonly Check[];
  readonly recommendations: readonly Recommendation[];
  /** Why it does not apply; null unless stale. */
  readonly conflict: string | null;
  /** `agent:<id>`, `person:<name>`, or `unknown`. */
  readonly author: string;
  readonly model: string | null;
  readonly created: string;
  readonly decision: { readonly by: string; readonly at: string; readonly reason: string | null } | null;
  /** The number of the revision that it made. */
  readonly revision: number | null;
  /** Who removed its texts and its report; null if nobody did. */
  readonly purged: { readonly by: string; readonly at: string } | null;
  /** Absolute path of its report. */
  readonly file: string;
  /** PROPOSAL_FILE_EDITED: somebody changed the report; a copy is kept. WRITE_FAILED: it cannot be written. */
  readonly problem?: Problem;
}

/** A trigger query whose first hit would be another one. */
export interface RetrievalChange {
  readonly query: string;
  readonly skillId: string;
  readonly shouldTrigger: boolean;
  readonly before: string | null;
  readonly after: string | null;
}

export interface ProposalFilter {
  /** `agent:<id>` or `person:<name>`. Default: any. */
  readonly author?: string | undefined;
  /** Default: any. */
  readonly skillId?: string | undefined;
  /** The newest ones. Default: all. */
  readonly limit?: number | undefined;
}

export interface ProposedText {
  readonly proposalId: string;
  /** Relative to the skill. */
  readonly path: string;
  /** The whole file. A stale proposal has conflict marks where both sides changed the same lines. */
  readonly content: string;
  /** Changes with every edit of the proposal and, while it is stale, of its file. */
  readonly version: string;
}

export interface ProposedFile {
  /** Of the skill, absolute. */
  readonly folder: string;
  /** Relative to the folder. */
  readonly path: string;
  /** null: the file is not there. */
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
}

export interface ProposalEdit extends Pick<Actor, 'by'> {
  readonly content: string;
  readonly version?: string | undefined;
}

export interface EditedProposal {
  readonly proposalId: string;
  readonly skillId: string;
  readonly state: ProposalState;
  /** False: the text was the same, nothing was done. */
  readonly changed: boolean;
  readonly version: string;
}

export interface DecidedProposal {
  readonly proposalId: string;
  readonly state: ProposalState;
  readonly skillId: string;
  readonly revision: number | null;
  /** The file had changed since the proposal; both changes were merged. */
  readonly merged: boolean;
}

export interface PurgedProposal {
  readonly proposalId: string;
  readonly skillId: string;
  readonly purged: { readonly by: string; readonly at: string };
  /** How many of its contents stay, because a revision or another proposal has the same content. */
  readonly shared: number;
}

export interface ProposalFigures {
  readonly open: number;
  readonly stale: number;
  readonly approved: number;
  readonly rejected: number;
  /** Approved share of the decided proposals, 0-1; null while none is decided. */
  readonly acceptanceRate: number | null;
  /** From creation to decision. */
  readonly hoursToDecision: { readonly median: number; readonly mean: number } | null;
  /** Approved proposals whose revision was rolled back within 30 days. */
  readonly rolledBackWithin30Days: number;
}

export interface ProposalStats {
  readonly all: ProposalFigures;
  readonly byAgent: Readonly<Record<string, ProposalFigures>>;
  readonly bySkill: Readonly<Record<string, ProposalFigures>>;
}

/**
 * All writes also throw WRITE_FAILED, HISTORY_DAMAGED and HISTORY_BUSY. All calls with an id also throw
 * PROPOSAL_NOT_FOUND, decisions PROPOSAL_DECIDED if it is decided, and PROPOSAL_CHANGED for another `version`.
 */
export interface Proposals {
  /**
   * @throws SKILL_NOT_FOUND, INVALID_ARGUMENT, PATH_TRAVERSAL, RESOURCE_NOT_FOUND, RESOURCE_TOO_LARGE,
   * PROPOSAL_DIFF_FAILED, PROPOSAL_NO_CHANGE, PROPOSAL_DUPLICATE, SKILL_INVALID, SKILL_EXISTS, SOURCE_NOT_WRITABLE,
   * WRITE_DENIED; for all but persons also PROPOSAL_REJECTED (this content was rejected before) and PROPOSAL_LIMIT (the
   * author has five open or stale proposals for the skill).
   */
  propose(input: ProposalInput, turn?: TurnContext): Promise<ProposalReceipt>;
  /**
   * Makes an open proposal from a report whose proposal is not in this history. Uses only the skill and the difference;
   * the author is `unknown, from a file`, the justification a quotation.
   * @throws REPORT_INVALID for a report that the registry would not write; as `propose`.
   */
  import(report: string): Promise<ProposalReceipt>;
  /**
   * Newest first, with the present state: a proposal that does not apply to the present skill is `stale`.
   * @param state - Default: open and stale. @param filter - Default: all.
   */
  list(state?: ProposalState | 'all', filter?: ProposalFilter): Promise<readonly Proposal[]>;
  /**
   * One proposal, with the present state. `checks` also says what an open one would do to trigger queries.
   * @param id - Or at least six characters of its start or end; other calls need the whole id.
   */
  get(id: string): Promise<Proposal>;
  /** @throws as `edit`. */
  text(id: string): Promise<ProposedText>;
  /**
   * Replaces the proposed text and computes diff and checks again; the author stays. A stale proposal is open again,
   * based on the file that `text` read last.
   * @param edit.content - The whole new file. @param edit.by - A person. @param edit.version - Of the edited text.
   * @throws PROPOSAL_CONFLICT, PROPOSAL_NO_CHANGE, PROPOSAL_DUPLICATE, SKILL_INVALID, SKILL_NOT_FOUND, INVALID_ARGUMENT
   *   where there is no text to edit, WRITE_DENIED for an agent, NOT_TEXT, RESOURCE_TOO_LARGE, SOURCE_NOT_WRITABLE.
   */
  edit(id: string, edit: ProposalEdit): Promise<EditedProposal>;
  /**
   * Merges with later changes of the file in other lines; for the same lines, the proposal becomes stale.
   * @param actor.version - Of the proposal that was shown. Default: any.
   * @throws PROPOSAL_STALE, PROPOSAL_FILE_EDITED (once after each edit of the report), SKILL_INVALID, SKILL_NOT_FOUND,
   *   SOURCE_NOT_WRITABLE, SHOWN_CHANGED (see `inspected`); BLOCK_NOT_CONFIRMED when somebody who is no person
   *   approves an attack.
   */
  approve(id: string, actor: Decider & { readonly version?: string | undefined }): Promise<DecidedProposal>;
  /** @throws INVALID_ARGUMENT without a reason. */
  reject(
    id: string,
    actor: Actor & { readonly reason: string; readonly version?: string | undefined },
  ): Promise<DecidedProposal>;
  /** Decides nothing. @throws INVALID_ARGUMENT without a reason. */
  recommend(id: string, verdict: Recommendation['verdict'], actor: Actor & { readonly reason: string }): Promise<void>;
  /**
   * Removes all texts of rejected proposals, and their reports, from all files below `data/`. The row stays, so the
   * same content is still PROPOSAL_REJECTED; so does the reason, with `[purged]` for words that share eight or more
   * characters with those texts. Rewrites `history.db`, which takes longer the larger it is.
   * @param ids - At least one. A purged proposal may be purged again.
   * @throws PROPOSAL_NOT_REJECTED, INVALID_ARGUMENT; HISTORY_BUSY when another process has a file open that contains
   *   some of the texts: purge again when it has ended.
   */
  purge(ids: readonly string[], actor: Pick<Actor, 'by'>): Promise<readonly PurgedProposal[]>;
  stats(): Promise<ProposalStats>;
  /** For proposals of other processes, the registry must watch. @returns a function that ends this. */
  onArrival(listener: (proposal: Proposal) => void): () => void;
}

declare module '../../../core/sources/source.ts' {
  interface SkillSource {
    /**
     * Of a source where others decide about its skills, and about new ones. Kept until the source has it.
     * @throws as the source refuses it, ORIGIN_REFUSED.
     */
    propose?(change: OfferedChange): Promise<TakenProposal>;
    /** What was taken (of this agent), newest first. `isAway`: only what the source does not have yet is known. */
    taken?(
      agent?: string,
      skillId?: string,
    ): Promise<{ readonly proposals: readonly TakenProposal[]; readonly isAway: boolean }>;
  }
}

/** A file of a skill as its author wants it to be, or the removal of the whole skill. */
export interface OfferedChange {
  readonly kind: 'update' | 'create' | 'delete';
  readonly skillId: string;
  /** As it is here; undefined for a new one. */
  readonly skill: Skill | undefined;
  readonly path: string;
  /** The whole file; null removes it. */
  readonly content: string | null;
  readonly justification: string;
  readonly evidence?: string | undefined;
  /** Undefined: the author is no agent. */
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
}

/** A change that a source has taken, about which others decide. */
export interface TakenProposal {
  readonly id: string;
  readonly skillId: string;
  /** `waiting`: the source does not have it yet. */
  readonly state: 'waiting' | 'open' | 'stale' | 'approved' | 'rejected';
  /** The address where people decide. */
  readonly where: string;
  /** For its author, a sentence or two. */
  readonly message?: string;
  readonly decidedBy?: string | null;
  readonly reason?: string | null;
  /** For people: as the source tells it. */
  readonly author?: string;
  readonly diff?: string;
  readonly justification?: string;
}
