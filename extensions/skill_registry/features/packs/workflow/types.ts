import type { TurnContext } from 'skill-registry/kernel';

export interface WorkflowPosition {
  /** As it was named: the id of a pack, or of its source. */
  readonly pack: string;
  readonly state: string;
  /** The next state by event. */
  readonly events: ReadonlyMap<string, string>;
  readonly states: readonly string[];
}

/** The state of each conversation (`threadId`) in a prompt pack's workflow. Kept until the process ends. */
export interface Workflows {
  /** The turn with the workflow state of its conversation; the same object without one. */
  at(turn: TurnContext): TurnContext;
  /** Undefined outside of a workflow, and when the pack, its workflow or the state does not exist (any more). */
  position(turn: TurnContext): WorkflowPosition | undefined;
  /** Default: the first state. @throws INVALID_ARGUMENT when there is no such pack or state, or no `threadId`. */
  enter(turn: TurnContext, pack: string, state?: string): WorkflowPosition;
  /** A workflow of an agent's manifest begins again in its first state. */
  leave(turn: TurnContext): void;
  /** @throws INVALID_ARGUMENT outside of a workflow, and for an event that the state does not have. */
  follow(turn: TurnContext, event: string): WorkflowPosition;
  hasEvents(turn: TurnContext): boolean;
}
