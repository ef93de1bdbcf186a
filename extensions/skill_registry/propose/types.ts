/** The public types of proposals. */
import type { Problem, TurnContext } from 'skill-registry/kernel';
import type { Actor, FileContent } from '../history/types.ts';
import type { Check } from '../inspect/findings.ts';

export type ProposalState = 'open' | 'approved' | 'rejected' | 'stale';

/** A proposed change. Give one of `diff`, `content`, `oldString` with `newString`, and `remove`. */
export interface ProposalInput {
  readonly skillId: string;
  /** `create`: a new skill, whose SKILL.md is `content`. `delete`: the whole skill. Default: `update`. */
  readonly kind?: 'update' | 'create' | 'delete' | undefined;
  /** Relative to the skill. Default: SKILL.md. */
  readonly path?: string | undefined;
  /** A unified diff against the present text, as `applyDiff` reads it; at most 256 KiB. */
  readonly diff?: string | undefined;
  /** The whole new text, or a quick function of the present one; BOM and line ends of that are kept. */
  readonly content?: Exclude<FileContent, null> | undefined;
  /** A text that occurs exactly once in the present one; line ends may differ. */
  readonly oldString?: string | undefined;
  /** The text that replaces it; empty removes it. The line ends of the present text are kept. */
  readonly newString?: string | undefined;
  /** Remove the file; not possible for SKILL.md. */
  readonly remove?: true | undefined;
  /** Why; 1-10,000 characters. */
  readonly justification: string;
  /** Errors, test failures, feedback; at most 20,000 characters. */
  readonly evidence?: string | undefined;
  /** The author, where there is no turn: `person:ada`. Default: the agent of the turn. */
  readonly author?: string | undefined;
}

export interface ProposalReceipt {
  readonly proposalId: string;
  /** Absolute path of the report for people. It is written from the proposal and never read back. */
  readonly file: string;
  readonly state: ProposalState;
  /** For its author: what the change would keep it from afterwards. Absent: nothing. */
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
  /** Digest of the file that it changes, for a deletion of the whole skill; null for a new file. */
  readonly base: string | null;
  /** `sha256:...`, another one after every edit. Pass it to `approve` to approve exactly what was shown. */
  readonly version: string;
  readonly diff: string;
  /** Whether a person can edit its text: it waits, it removes nothing, and what it changes is still there. */
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
  /** The revision it made. */
  readonly revision: number | null;
  /** Who purged its texts and its report, and when; null if nobody did. */
  readonly purged: { readonly by: string; readonly at: string } | null;
  /** Absolute path of its report. */
  readonly file: string;
  /** PROPOSAL_FILE_EDITED: somebody has changed the report; a copy is kept. WRITE_FAILED: the report cannot be written. */
  readonly problem?: Problem;
}

export interface ProposalFilter {
  /** `agent:<id>` or `person:<name>`. Default: any. */
  readonly author?: string | undefined;
  /** Default: any. */
  readonly skillId?: string | undefined;
  /** At most this many, the newest. Default: all. */
  readonly limit?: number | undefined;
}

/** The proposed text of a file. */
export interface ProposedText {
  readonly proposalId: string;
  /** Relative to the skill. */
  readonly path: string;
  /** The whole text. A stale proposal has conflict marks where both sides changed the same lines. */
  readonly content: string;
  /** Another one after an edit of the proposal and, while it is stale, after a change of its file. */
  readonly version: string;
}

export interface ProposalEdit extends Pick<Actor, 'by'> {
  readonly content: string;
  readonly version?: string | undefined;
}

export interface EditedProposal {
  readonly proposalId: string;
  readonly skillId: string;
  readonly state: ProposalState;
  /** False: the text was the same, and nothing was done. */
  readonly changed: boolean;
  /** As `Proposal.version`. */
  readonly version: string;
}

export interface DecidedProposal {
  readonly proposalId: string;
  readonly state: ProposalState;
  readonly skillId: string;
  /** The number of the revision that was made. */
  readonly revision: number | null;
  /** The file had changed since the proposal, and both changes were merged. */
  readonly merged: boolean;
}

export interface PurgedProposal {
  readonly proposalId: string;
  readonly skillId: string;
  readonly purged: { readonly by: string; readonly at: string };
  /** How many of its contents stay, because a revision of a skill or another proposal has the same content. */
  readonly shared: number;
}

export interface ProposalFigures {
  readonly open: number;
  readonly stale: number;
  readonly approved: number;
  readonly rejected: number;
  /** Share of the decided proposals that were approved, 0-1; null while none is decided. */
  readonly acceptanceRate: number | null;
  /** Median and mean from creation to decision, in hours. */
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
 * Whatever writes also throws WRITE_FAILED, HISTORY_DAMAGED and HISTORY_BUSY. Whatever names a proposal throws PROPOSAL_NOT_FOUND, and
 * what decides it PROPOSAL_DECIDED when that is done already, PROPOSAL_CHANGED when `version` is another one.
 */
export interface Proposals {
  /**
   * @throws SKILL_NOT_FOUND, INVALID_ARGUMENT, PATH_TRAVERSAL, RESOURCE_NOT_FOUND, RESOURCE_TOO_LARGE, PROPOSAL_DIFF_FAILED,
   *   PROPOSAL_NO_CHANGE, PROPOSAL_DUPLICATE, SKILL_INVALID, SKILL_EXISTS, SOURCE_NOT_WRITABLE, WRITE_DENIED; unless a person asks,
   *   PROPOSAL_REJECTED for a content that was rejected before, and PROPOSAL_LIMIT while five proposals of one author for one skill
   *   are open or stale.
   */
  propose(input: ProposalInput, turn?: TurnContext): Promise<ProposalReceipt>;
  /**
   * Makes an open proposal of the text of a report that is no proposal here: one that outlived its history, or came with git. Only the
   * skill and the difference are taken; the author is `unknown, from a file`, the justification a quotation.
   *
   * @throws REPORT_INVALID unless it is as the registry writes it; as `propose`.
   */
  import(report: string): Promise<ProposalReceipt>;
  /**
   * Newest first, with the present state: a proposal that does not apply to the present skill is `stale`.
   *
   * @param state - Default: open and stale ones. @param filter - Default: all of them.
   */
  list(state?: ProposalState | 'all', filter?: ProposalFilter): Promise<readonly Proposal[]>;
  /**
   * One proposal, with the present state as in `list`; `checks` also says what an open one would do to trigger queries.
   *
   * @param id - Or at least six characters of its beginning or end. All others take a whole id.
   */
  get(id: string): Promise<Proposal>;
  /** @throws as `edit`. */
  text(id: string): Promise<ProposedText>;
  /**
   * Replaces the proposed text. The diff and the checks are computed again, the author stays. A stale proposal is open again, based
   * on the file that `text` read last.
   *
   * @param edit.content - The whole new text of the file; BOM and line ends are kept. @param edit.by - A person.
   * @param edit.version - Of the text that was edited. Default: any.
   * @throws PROPOSAL_CONFLICT, PROPOSAL_NO_CHANGE, PROPOSAL_DUPLICATE, SKILL_INVALID, SKILL_NOT_FOUND, INVALID_ARGUMENT where there is
   *   no text to edit, WRITE_DENIED for an agent, NOT_TEXT, RESOURCE_TOO_LARGE, SOURCE_NOT_WRITABLE.
   */
  edit(id: string, edit: ProposalEdit): Promise<EditedProposal>;
  /**
   * Applies it. If the file has changed since, both changes are merged when they are in different lines; else the proposal is stale.
   *
   * @param actor.version - Of the proposal that was shown. Default: any.
   * @throws PROPOSAL_STALE, PROPOSAL_FILE_EDITED (once after each edit of the report), SKILL_INVALID, SKILL_NOT_FOUND,
   *   SOURCE_NOT_WRITABLE; BLOCK_NOT_CONFIRMED for an attack that somebody approves who is no person.
   */
  approve(id: string, actor: Actor & { readonly version?: string | undefined }): Promise<DecidedProposal>;
  /** @param actor.version - As of `approve`. @throws INVALID_ARGUMENT without a reason. */
  reject(
    id: string,
    actor: Actor & { readonly reason: string; readonly version?: string | undefined },
  ): Promise<DecidedProposal>;
  /** Decides nothing. @throws INVALID_ARGUMENT without a reason. */
  recommend(id: string, verdict: Recommendation['verdict'], actor: Actor & { readonly reason: string }): Promise<void>;
  /**
   * Removes all texts of rejected proposals and their reports, so that no file below `data/` has the bytes: diff, justification,
   * evidence, checks, recommendations. The row stays, so the same content is still PROPOSAL_REJECTED; so does the reason of the
   * decision, with `[purged]` for words that have eight characters or more in a row of those texts. Skills, open and approved
   * proposals do not change. The cache is removed and `history.db` is rewritten, which takes longer the larger it is.
   *
   * @param ids - At least one. A purged proposal may be purged again.
   * @throws PROPOSAL_NOT_REJECTED, INVALID_ARGUMENT; HISTORY_BUSY when another process keeps a file open that has some of the texts:
   *   purge again when that process has ended.
   */
  purge(ids: readonly string[], actor: Pick<Actor, 'by'>): Promise<readonly PurgedProposal[]>;
  stats(): Promise<ProposalStats>;
  /** Calls the listener for every new proposal; of other processes while the registry watches. @returns a function that ends this. */
  onArrival(listener: (proposal: Proposal) => void): () => void;
}
