/** What callers see of proposals. */
import type { Problem, TurnContext } from 'skill-registry/kernel';
import type { Actor } from '../history/types.ts';
import type { Check } from '../inspect/findings.ts';

export type ProposalState = 'open' | 'approved' | 'rejected' | 'stale';

/** A change somebody asks for. One of `diff`, `content`, `oldString` with `newString`, and `remove`. */
export interface ProposalInput {
  readonly skillId: string;
  /** `create`: a new skill, whose SKILL.md is `content`. `delete`: the whole skill. Default: `update`. */
  readonly kind?: 'update' | 'create' | 'delete' | undefined;
  /** Relative to the skill. Default: SKILL.md. */
  readonly path?: string | undefined;
  /** A unified diff against the present text, as `applyDiff` reads it; at most 256 KiB. */
  readonly diff?: string | undefined;
  /** The whole new text; BOM and line ends of the present one are kept. */
  readonly content?: string | undefined;
  /** A text that occurs once in the present one, exactly; line ends may differ. */
  readonly oldString?: string | undefined;
  /** What takes its place; empty removes it. The line ends of the present text are kept. */
  readonly newString?: string | undefined;
  /** The file is to be removed; not SKILL.md. */
  readonly remove?: true | undefined;
  /** Why; 1-10,000 characters. */
  readonly justification: string;
  /** Errors, test failures, feedback; at most 20,000 characters. */
  readonly evidence?: string | undefined;
  /** Who asks, where there is no turn: `person:ada`. Default: the agent of the turn. */
  readonly author?: string | undefined;
}

export interface ProposalReceipt {
  readonly proposalId: string;
  /** The report people read, absolute. It is written from the proposal, and never read back. */
  readonly file: string;
  readonly state: ProposalState;
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
  /** Digest of what it was made against: the file, of a deletion the whole skill; null for what is new. */
  readonly base: string | null;
  /** Another one after every change of what it would do (`sha256:...`): given to `approve`, it says what was looked at. */
  readonly version: string;
  readonly diff: string;
  readonly justification: string;
  readonly evidence: string | null;
  readonly checks: readonly Check[];
  readonly recommendations: readonly Recommendation[];
  /** Why it does not apply; only while stale. */
  readonly conflict: string | null;
  /** `agent:<id>`, `person:<name>`, or `unknown`. */
  readonly author: string;
  readonly model: string | null;
  readonly created: string;
  readonly decision: { readonly by: string; readonly at: string; readonly reason: string | null } | null;
  /** The revision it made. */
  readonly revision: number | null;
  /** Who has taken its texts away, and when; its report has gone then. Else null. */
  readonly purged: { readonly by: string; readonly at: string } | null;
  /** Its report, absolute. */
  readonly file: string;
  /** PROPOSAL_FILE_EDITED: somebody has changed the report; which file has what they wrote, and what to do with it. */
  readonly problem?: Problem;
}

/** What a proposal makes of its file. */
export interface ProposedText {
  readonly proposalId: string;
  /** Relative to the skill. */
  readonly path: string;
  /** The whole text; of a stale proposal with a conflict between marks wherever both sides changed the same lines. */
  readonly content: string;
  /** Another one when the proposal has been edited since or, while it is stale, its file has changed. */
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
  /** False: the text is what it was, and nothing was done. */
  readonly changed: boolean;
  /** As `Proposal.version`. */
  readonly version: string;
}

export interface Decision {
  readonly proposalId: string;
  readonly state: ProposalState;
  readonly skillId: string;
  /** The number of the revision that was made. */
  readonly revision: number | null;
  /** The text had changed since, and both changes were merged. */
  readonly merged: boolean;
}

export interface PurgedProposal {
  readonly proposalId: string;
  readonly skillId: string;
  readonly purged: { readonly by: string; readonly at: string };
  /** How many of its contents stay, because a revision of a skill or another proposal has the very same. */
  readonly shared: number;
}

export interface ProposalFigures {
  readonly open: number;
  readonly stale: number;
  readonly approved: number;
  readonly rejected: number;
  /** Approved of those decided, 0-1; null while none is. */
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

export interface Proposals {
  /**
   * @throws SKILL_NOT_FOUND, INVALID_ARGUMENT, PATH_TRAVERSAL, RESOURCE_TOO_LARGE, PROPOSAL_DIFF_FAILED, PROPOSAL_NO_CHANGE,
   *   PROPOSAL_DUPLICATE, SKILL_INVALID, SKILL_EXISTS, SOURCE_NOT_WRITABLE, WRITE_DENIED, HISTORY_DAMAGED, HISTORY_BUSY.
   */
  propose(input: ProposalInput, turn?: TurnContext): Promise<ProposalReceipt>;
  /** Newest first. @param state - Default: open and stale ones. */
  list(state?: ProposalState | 'all'): Promise<readonly Proposal[]>;
  /** @param id - Or enough of its beginning or end. @throws PROPOSAL_NOT_FOUND. */
  get(id: string): Promise<Proposal>;
  /** @throws as `edit`. */
  text(id: string): Promise<ProposedText>;
  /**
   * Puts another text in the place of the proposed one: the diff and the checks are made anew, the author stays. A stale proposal is
   * open again, made against the file as `text` saw it last.
   *
   * @param edit.content - The whole new text of the file; BOM and line ends are kept.
   * @param edit.by - A person.
   * @param edit.version - Of the text that was edited. Default: any.
   * @throws PROPOSAL_NOT_FOUND, PROPOSAL_DECIDED, PROPOSAL_CHANGED, PROPOSAL_CONFLICT, PROPOSAL_NO_CHANGE, PROPOSAL_DUPLICATE,
   *   SKILL_INVALID, SKILL_NOT_FOUND, INVALID_ARGUMENT where there is no text to edit, WRITE_DENIED for an agent, NOT_TEXT,
   *   RESOURCE_TOO_LARGE, SOURCE_NOT_WRITABLE, WRITE_FAILED, HISTORY_DAMAGED, HISTORY_BUSY.
   */
  edit(id: string, edit: ProposalEdit): Promise<EditedProposal>;
  /**
   * Applies it. Where the text has changed since, both changes are merged if they do not touch; else the proposal is stale.
   *
   * @param actor.version - Of the proposal that was looked at. Default: any.
   * @throws PROPOSAL_NOT_FOUND, PROPOSAL_DECIDED, PROPOSAL_CHANGED, PROPOSAL_STALE, PROPOSAL_FILE_EDITED (once for each time),
   *   SKILL_INVALID, SKILL_NOT_FOUND, SOURCE_NOT_WRITABLE, WRITE_FAILED, HISTORY_DAMAGED, HISTORY_BUSY.
   */
  approve(id: string, actor: Actor & { readonly version?: string | undefined }): Promise<Decision>;
  /** @throws PROPOSAL_NOT_FOUND, PROPOSAL_DECIDED, INVALID_ARGUMENT without a reason, HISTORY_DAMAGED, HISTORY_BUSY. */
  reject(id: string, actor: Actor & { readonly reason: string }): Promise<Decision>;
  /** Decides nothing. @throws PROPOSAL_NOT_FOUND, PROPOSAL_DECIDED, INVALID_ARGUMENT. */
  recommend(id: string, verdict: Recommendation['verdict'], actor: Actor & { readonly reason: string }): Promise<void>;
  /**
   * Takes all texts of rejected proposals out of the history, with their reports, so that no file below `data/` has the bytes: diff,
   * justification, evidence, checks, recommendations, reasons. The row stays. Skills, open and approved proposals stay as they
   * are; the cache is removed, and `history.db` written anew, which takes as long as it is large.
   *
   * @param ids - At least one. Those that are purged already are looked for again.
   * @throws PROPOSAL_NOT_FOUND, PROPOSAL_NOT_REJECTED; HISTORY_BUSY when another process keeps some of it, which ends with a
   *   second call; INVALID_ARGUMENT, WRITE_FAILED, HISTORY_DAMAGED.
   */
  purge(ids: readonly string[], actor: Pick<Actor, 'by'>): Promise<readonly PurgedProposal[]>;
  stats(): Promise<ProposalStats>;
  /** Told of every proposal that arrives, also by another process while the registry watches. @returns unsubscribes. */
  onArrival(listener: (proposal: Proposal) => void): () => void;
}

/** The methods that wait until the history is open. */
export const PROPOSAL_METHODS: Readonly<Record<Exclude<keyof Proposals, 'onArrival'>, true>> = {
  ...{ propose: true, list: true, get: true, text: true, edit: true },
  ...{ approve: true, reject: true, recommend: true, purge: true, stats: true },
};
