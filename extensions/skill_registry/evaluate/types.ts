/** The public types of evidence: what a skill's own test cases ask for, what the registry ran, what others claim. No code. */
import type { Problem } from 'skill-registry/kernel';
import type { TakenOver } from '../search/types.ts';

/** What a program can check of the output of a run. */
export type AssertionType = 'output_contains' | 'output_not_contains' | 'output_matches' | 'file_exists';

export interface Assertion {
  readonly type: AssertionType;
  /** A text, a regular expression of JavaScript (`output_matches`), or a path below the outputs (`file_exists`). */
  readonly value: string;
}

/** One case of `evals/evals.json`, or one scenario of `eval.yaml`. Every text is its author's. */
export interface EvaluationCase {
  /** The id, or the name of the scenario; the name of the folder of its outputs. */
  readonly id: string;
  /** The file that has it, relative to the skill. */
  readonly file: string;
  readonly prompt: string;
  readonly expectedOutput: string | null;
  /** What a program checks. */
  readonly assertions: readonly Assertion[];
  /** What a person or a model has to judge: expectations in words, and the rubric. */
  readonly expectations: readonly string[];
}

/** A query for which the skill should be found first, or should not. */
export interface TriggerCase {
  readonly query: string;
  readonly shouldTrigger: boolean;
}

/** The test cases of a skill, as its files have them. Nothing in them is run before `evaluate`. */
export interface EvaluationSuite {
  /** `sha256:...` of what was read; null when the skill has no test cases. */
  readonly digest: string | null;
  /** The files it was read from, relative to the skill. */
  readonly files: readonly string[];
  readonly cases: readonly EvaluationCase[];
  /** Of the trigger list, and the trigger keywords. */
  readonly queries: readonly TriggerCase[];
  /** EVALS_INVALID, TRIGGER_EVAL_INVALID: what is not used, and what was expected. */
  readonly problems: readonly Problem[];
}

export interface QueryResult extends TriggerCase {
  /** The id that the search gives first; null when it finds nothing. */
  readonly found: string | null;
  readonly passed: boolean;
}

/** Trigger queries against the search of this registry, by words, among the skills that models see. */
export interface TriggerResult {
  readonly queries: readonly QueryResult[];
  /** Queries that were not tried, because models do not see the skill, or the time was over. */
  readonly notTried: number;
  /** 0-1: of the queries that find the skill first, those that should; null when none does. */
  readonly precision: number | null;
  /** 0-1: of the queries that should find it first, those that do; null when none should. */
  readonly recall: number | null;
}

export interface AssertionResult extends Assertion {
  readonly passed: boolean;
  /** What was found, as a sentence. */
  readonly evidence: string;
}

export interface CaseResult {
  readonly id: string;
  readonly file: string;
  /** Empty when there are no outputs. */
  readonly assertions: readonly AssertionResult[];
  /** Checks that were not run: assertions without outputs, and expectations, which need a judge. */
  readonly notRun: number;
  /** Why assertions were not run; null when they were, or there are none. */
  readonly reason: string | null;
}

/** What the registry itself ran on one content. */
export interface EvaluationResult {
  readonly skillId: string;
  /** Of all files of the skill; as `Revision.digest`. */
  readonly digest: string;
  /** As `EvaluationSuite.digest`. */
  readonly suite: string | null;
  /** When it was run: ISO 8601, UTC. */
  readonly at: string;
  /** Validity, each query and each assertion is one check; expectations are never run. */
  readonly totals: { readonly passed: number; readonly failed: number; readonly notRun: number };
  readonly validity: {
    readonly profile: 'spec' | 'strict';
    readonly errors: readonly string[];
  };
  /** Of the line in the catalog (null when models do not see the skill) and of the body. */
  readonly tokens: { readonly l1: number | null; readonly l2: number };
  /** Null when the skill has no trigger queries. */
  readonly triggers: TriggerResult | null;
  readonly cases: readonly CaseResult[];
  /** As `EvaluationSuite.problems`, and EVALS_INVALID of a `grading.json`. */
  readonly problems: readonly Problem[];
  /** Whether it was run before and is kept: nothing that it depends on has changed. */
  readonly reused: boolean;
  /** Why it could not be kept in the history; null when it is kept, and for a skill without test cases, which are not kept. */
  readonly notKept: string | null;
}

/** What somebody else says of a skill. The registry has not checked these claims. */
export interface Claim {
  readonly kind: 'proposal' | 'grading';
  /** `agent:<id>` or `person:<name>` of a proposal; `grading.json`. */
  readonly by: string;
  /** ISO 8601, UTC: when it was made, or was read. */
  readonly at: string;
  /** The proposal, or the case that was graded. */
  readonly about: string;
  /** Digest of the content that the skill had when the claim was read; null for a proposal, which is about its own content. */
  readonly digest: string | null;
  /** In the words of who claims it. */
  readonly text: string;
  /** As the grading says. */
  readonly summary: { readonly passed: number; readonly failed: number; readonly total: number } | null;
}

export interface SkillEvidence {
  readonly skillId: string;
  /** Of the present content. */
  readonly digest: string;
  readonly suite: EvaluationSuite;
  /** Of the present content and suite; null when there is none. */
  readonly result: EvaluationResult | null;
  /** The newest result of another content or suite, when there is none of the present ones. */
  readonly last: EvaluationResult | null;
  /** Newest first, at most 20. */
  readonly claims: readonly Claim[];
  /** Why kept results and claims cannot be read; null when they can. */
  readonly notRead: string | null;
  /** Why the skill is held, so that `evaluate` refuses it; null when it is not. */
  readonly heldBecause: string | null;
}

/** A trigger query that finds another skill first after a change. */
export interface QueryChange extends TriggerCase {
  readonly before: string | null;
  readonly after: string | null;
}

/** What the registry ran on both contents of a proposal, beside what its author claims. */
export interface ProposalEvidence {
  readonly proposalId: string;
  readonly skillId: string;
  /** The present content; null for a new skill, and where nothing was run. */
  readonly before: EvaluationResult | null;
  /** The content after approving; null for a deletion, and where nothing was run. */
  readonly after: EvaluationResult | null;
  /** Why nothing was run on one of them; null when both were, or there is only one. */
  readonly notRun: string | null;
  /** Queries of both contents whose first hit differs. */
  readonly changes: readonly QueryChange[];
  /** What the new description does to other skills; null when it is the same, or nothing was tried. */
  readonly takenOver: TakenOver | null;
  /** The `evidence` of the author. */
  readonly claims: readonly Claim[];
}

export interface EvaluateOptions {
  /**
   * Folder with outputs of runs: one folder for each case, named after its id, with `output.md` (or `output.txt`) and files.
   * Relative to the current folder. Default: none; then the assertions of the last outputs for this content and suite count.
   */
  readonly outputs?: string | undefined;
}

/** A part of `registry.admin`. */
export interface Evaluation {
  /**
   * The test cases of a skill, the kept results, and what others claim. Runs nothing.
   *
   * @throws SKILL_NOT_FOUND, REGISTRY_CLOSED.
   */
  evidence(skillId: string): Promise<SkillEvidence>;
  /**
   * Runs what needs no model: validity, tokens, trigger queries, assertions over stored outputs. The result is kept by the digests of
   * content and suite, and is not run again while nothing has changed. A `grading.json` in the outputs is kept as a claim.
   *
   * @throws SKILL_NOT_FOUND; SKILL_HELD for a held skill; INVALID_ARGUMENT when the outputs are no folder, or the files of the skill are on
   *   a server; REGISTRY_CLOSED.
   */
  evaluate(skillId: string, options?: EvaluateOptions): Promise<EvaluationResult>;
  /**
   * The same for the present content of a proposal and for the one after approving it, within ten seconds. Nothing of it is stored.
   *
   * @throws PROPOSAL_NOT_FOUND, HISTORY_DAMAGED, REGISTRY_CLOSED.
   */
  proposalEvidence(proposalId: string): Promise<ProposalEvidence>;
}
