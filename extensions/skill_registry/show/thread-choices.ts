import type { TurnContext } from 'skill-registry/kernel';
import { RecentMap } from '../../../lib/recent-map/index.ts';

/** Lines that the first turn of a thread chose, and those that later turns added. */
export interface CatalogChoice {
  /** `lines` are: those with a description (every skill is named), all lines, or the ranking (bodies are shown). */
  readonly kind: 'described' | 'chosen' | 'ranked';
  /** By id, in order; empty texts for `ranked`. */
  readonly lines: ReadonlyMap<string, string>;
  /** Skills were missing. When none is missing any more, the thread chooses once more. */
  readonly provisional: boolean;
}

export interface ThreadChoice {
  get(): CatalogChoice | undefined;
  set(choice: CatalogChoice): void;
}

/** Later turns begin with the same lines, which prompt caches need. */
export interface ThreadChoices {
  /** Undefined without a thread. */
  of(turn: TurnContext): ThreadChoice | undefined;
}

/** @param isWhole - No skill is missing now. */
export function choiceToKeep(thread: ThreadChoice | undefined, isWhole: boolean): CatalogChoice | undefined {
  const before = thread?.get();
  return before?.provisional && isWhole ? undefined : before;
}

/** The end of a thread is not reported: those that were not used for longest are removed. */
const MAX_THREADS = 1000;

export function createThreadChoices(): ThreadChoices {
  const choices = new RecentMap<string, CatalogChoice>(MAX_THREADS);
  return {
    of(turn) {
      if (turn.threadId === undefined) return undefined;
      const key = JSON.stringify([turn.threadId, turn.agentId, turn.workflowState]);
      return {
        get() {
          const choice = choices.get(key);
          // Moves it to the end.
          if (choice) choices.set(key, choice);
          return choice;
        },
        set: (choice) => void choices.set(key, choice),
      };
    },
  };
}
