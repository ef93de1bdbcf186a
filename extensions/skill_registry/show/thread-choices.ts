import type { TurnContext } from 'skill-registry/kernel';

/** What the first turn of a thread chose for its catalog, and later ones added. */
export interface CatalogChoice {
  /**
   * `described`: every skill is named, these with their description. `chosen`: these are all that is shown. `ranked`: bodies
   * are shown, and these came first.
   */
  readonly kind: 'described' | 'chosen' | 'ranked';
  /** The line of each, by id, in the order in which they stand; nothing for `ranked`. */
  readonly lines: ReadonlyMap<string, string>;
}

/** The choice of one thread, to be read and replaced. */
export interface ThreadChoice {
  get(): CatalogChoice | undefined;
  set(choice: CatalogChoice): void;
}

/** Remembers the choices of threads, so that later turns have the same text before their own lines: prompt caches live on it. */
export interface ThreadChoices {
  /** Undefined outside of a thread: every such turn chooses anew. */
  of(turn: TurnContext): ThreadChoice | undefined;
}

/** Threads end without saying so, so those that were not heard of longest are forgotten. */
const MAX_THREADS = 1000;

export function createThreadChoices(): ThreadChoices {
  const choices = new Map<string, CatalogChoice>();
  return {
    of(turn) {
      if (turn.threadId === undefined) return undefined;
      const key = JSON.stringify([turn.threadId, turn.agentId, turn.workflowState]);
      return {
        get() {
          const choice = choices.get(key);
          // Heard of now, so the last to be forgotten.
          if (choice && choices.delete(key)) choices.set(key, choice);
          return choice;
        },
        set(choice) {
          choices.delete(key);
          choices.set(key, choice);
          const [oldest] = choices.keys();
          if (choices.size > MAX_THREADS && oldest !== undefined) choices.delete(oldest);
        },
      };
    },
  };
}
