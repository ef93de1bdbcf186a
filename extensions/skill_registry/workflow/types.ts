/** Public types of workflow states. No code. */
import type { TurnContext } from 'skill-registry/kernel';

/** Where a conversation is in a workflow. */
export interface WorkflowPosition {
  /** As it was named: the id of a pack, or of its source. */
  readonly pack: string;
  readonly state: string;
  /** The events that lead out of this state, and the state each leads to. */
  readonly events: ReadonlyMap<string, string>;
  /** All states of the workflow. */
  readonly states: readonly string[];
}

/** Which state of which prompt pack's workflow each conversation (`threadId`) is in. Kept until the process ends. */
export interface Workflows {
  /** The turn with the workflow and state that its conversation is in; the same object where it is in none. */
  at(turn: TurnContext): TurnContext;
  /** Undefined outside of a workflow, and where the pack, its workflow or the state does not exist (any more). */
  position(turn: TurnContext): WorkflowPosition | undefined;
  /**
   * Puts the conversation into a state of a workflow; without a state into the first one.
   *
   * @throws INVALID_ARGUMENT when there is no such pack or state, or the turn has no `threadId`.
   */
  enter(turn: TurnContext, pack: string, state?: string): WorkflowPosition;
  /** Ends the workflow of the conversation. That of an agent's manifest begins again in its first state. */
  leave(turn: TurnContext): void;
  /**
   * Goes to the state to which an event leads.
   *
   * @throws INVALID_ARGUMENT outside of a workflow, and for an event that the state does not have: the message says which it has.
   */
  follow(turn: TurnContext, event: string): WorkflowPosition;
  /** Whether any state of the workflow has an event. */
  hasEvents(turn: TurnContext): boolean;
}
