import type { Problem } from 'skill-registry/kernel';

export type AssertionType = 'output_contains' | 'output_not_contains' | 'output_matches' | 'file_exists';

export interface Assertion {
  readonly type: AssertionType;
  /** A text, a JavaScript regular expression (`output_matches`), or a path below the outputs (`file_exists`). */
  readonly value: string;
}

/** One case of `evals/evals.json`, or one scenario of `eval.yaml`, in its author's words. */
export interface EvaluationCase {
  /** The id, or the scenario's name. The folder of its outputs has this name. */
  readonly id: string;
  readonly file: string;
  readonly prompt: string;
  readonly expectedOutput: string | null;
  readonly assertions: readonly Assertion[];
  /** What a person or a model has to judge. */
  readonly expectations: readonly string[];
}

export interface TriggerCase {
  readonly query: string;
  readonly shouldTrigger: boolean;
}

/** Nothing in it runs before `evaluate`. */
export interface EvaluationSuite {
  /** `sha256:...` of what was read; null when there are no test cases. */
  readonly digest: string | null;
  /** Relative to the skill. */
  readonly files: readonly string[];
  readonly cases: readonly EvaluationCase[];
  readonly queries: readonly TriggerCase[];
  /** EVALS_INVALID, TRIGGER_EVAL_INVALID: what is not used, and what was expected. */
  readonly problems: readonly Problem[];
}

export interface QueryResult extends TriggerCase {
  /** null when the search finds nothing. */
  readonly found: string | null;
  readonly passed: boolean;
}

/** Searched by words among the skills that models see. */
export interface TriggerResult {
  readonly queries: readonly QueryResult[];
  /** Not tried, because models do not see the skill, or the time was over. */
  readonly notTried: number;
  /** 0-1: of the queries that find the skill first, those that should; null when none does. */
  readonly precision: number | null;
  /** 0-1: of the queries that should find it first, those that do; null when none should. */
  readonly recall: number | null;
}

export interface AssertionResult extends Assertion {
  readonly passed: boolean;
  /** A sentence. */
  readonly evidence: string;
}

export interface CaseResult {
  readonly id: string;
  readonly file: string;
  /** Empty when there are no outputs. */
  readonly assertions: readonly AssertionResult[];
  /** Assertions without outputs, and expectations, which need a judge. */
  readonly notRun: number;
  /** Why assertions were not run; null when they were, or there are none. */
  readonly reason: string | null;
}

export interface EvaluationResult {
  readonly skillId: string;
  /** As `Revision.digest`. */
  readonly digest: string;
  /** As `EvaluationSuite.digest`. */
  readonly suite: string | null;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Counts validity, each query and each assertion; expectations are never run. */
  readonly totals: { readonly passed: number; readonly failed: number; readonly notRun: number };
  readonly validity: {
    readonly profile: 'spec' | 'strict';
    readonly errors: readonly string[];
  };
  /** `l1`: the line in the catalog; null when models do not see the skill. `l2`: the body. */
  readonly tokens: { readonly l1: number | null; readonly l2: number };
  /** null when the skill has no trigger queries. */
  readonly triggers: TriggerResult | null;
  readonly cases: readonly CaseResult[];
  /** Also EVALS_INVALID for a `grading.json`. */
  readonly problems: readonly Problem[];
  /** True: kept from an earlier run, as nothing has changed since. */
  readonly reused: boolean;
  /** Why it is not in the history; null when it is, or the skill has no test cases. */
  readonly notKept: string | null;
}

/** What somebody else says of a skill. The registry has not checked it. */
export interface Claim {
  readonly kind: 'proposal' | 'grading';
  /** `agent:<id>` or `person:<name>` of a proposal; `grading.json`. */
  readonly by: string;
  /** ISO 8601, UTC: when it was made, or was read. */
  readonly at: string;
  /** The proposal, or the graded case. */
  readonly about: string;
  /** The content when the claim was read; null for a proposal, which is about its own content. */
  readonly digest: string | null;
  readonly text: string;
  /** As the grading says. */
  readonly summary: { readonly passed: number; readonly failed: number; readonly total: number } | null;
}

export interface SkillEvidence {
  readonly skillId: string;
  /** Of the present content. */
  readonly digest: string;
  readonly suite: EvaluationSuite;
  /** Of the present content and suite. */
  readonly result: EvaluationResult | null;
  /** The newest result of another content or suite, if `result` is null. */
  readonly last: EvaluationResult | null;
  /** Newest first, at most 20. */
  readonly claims: readonly Claim[];
  /** Why kept results and claims cannot be read; null when they can. */
  readonly notRead: string | null;
  /** Why `evaluate` refuses the skill; null when it does not. */
  readonly heldBecause: string | null;
}

export interface QueryChange extends TriggerCase {
  readonly before: string | null;
  readonly after: string | null;
}

export interface ProposalEvidence {
  readonly proposalId: string;
  readonly skillId: string;
  /** The present content; null for a new skill, or if it was not run. */
  readonly before: EvaluationResult | null;
  /** The content after approving; null for a deletion, or if it was not run. */
  readonly after: EvaluationResult | null;
  /** Why a content was not run; null when all were. */
  readonly notRun: string | null;
  /** Queries of both contents whose first hit differs. */
  readonly changes: readonly QueryChange[];
  /** The new description's effect on other skills; null when it is the same, or nothing was tried. */
  readonly takenOver: TakenOver | null;
  readonly claims: readonly Claim[];
}

export interface EvaluateOptions {
  /**
   * A folder with one folder per case, named after its id, with `output.md` or `output.txt`, and files. Default: none;
   * then the assertions of the last outputs for this content and suite count.
   */
  readonly outputs?: string | undefined;
}

export interface Evaluation {
  /** Test cases, kept results and claims. Runs nothing. @throws SKILL_NOT_FOUND, REGISTRY_CLOSED. */
  evidence(skillId: string): Promise<SkillEvidence>;
  /**
   * Runs what needs no model: validity, tokens, trigger queries, assertions over outputs. Returns the kept result while
   * nothing has changed. Keeps a `grading.json` of the outputs as a claim.
   * @throws SKILL_NOT_FOUND; SKILL_HELD; INVALID_ARGUMENT for outputs that are no folder, or a skill on a server;
   *   REGISTRY_CLOSED.
   */
  evaluate(skillId: string, options?: EvaluateOptions): Promise<EvaluationResult>;
  /**
   * Runs the content before and after approving, for at most ten seconds. Stores nothing.
   * @throws PROPOSAL_NOT_FOUND, HISTORY_DAMAGED, REGISTRY_CLOSED.
   */
  proposalEvidence(proposalId: string): Promise<ProposalEvidence>;
}

export interface OverlapReport {
  /** Densest first. */
  readonly neighbourhoods: readonly Neighbourhood[];
  readonly queries: number;
  readonly stolen: readonly StolenQuery[];
  /** TRIGGER_EVAL_INVALID. */
  readonly problems: readonly Problem[];
}

export interface Neighbourhood {
  /** Ids; the others were compared with the first one. */
  readonly skills: readonly string[];
  /** 0-1: mean likeness to the first one. */
  readonly likeness: number;
  /** Stems of words that all of them have, the rarest first. */
  readonly words: readonly string[];
}

export interface TakenOver {
  /** Ids of the others whose descriptions now find this skill as the best one beside themselves, and did not before. */
  readonly skills: readonly string[];
  /** Number of descriptions: at most the 50 that share most with the new one. */
  readonly tried: number;
  /** Five seconds were over before all were tried. */
  readonly cut: boolean;
  /** Number of other skills that models see. */
  readonly others: number;
  /** The description asks to be used for every task, or before other skills: it competes with all skills. */
  readonly claimsAll: boolean;
  /** The same in sentences, for a person. */
  readonly text: string;
}

/** A trigger query whose first hit is not what its author wants. */
export interface StolenQuery extends TriggerCase {
  readonly skillId: string;
  readonly found: string | null;
}
