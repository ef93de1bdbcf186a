import type { TurnContext } from 'skill-registry/kernel';
import { RecentMap } from '../../../lib/recent-map/index.ts';

/** The lines that the first turn of a thread chose for the catalog, and those that later turns added. */
export interface CatalogChoice {
  /**
   * `described`: every skill is named, and `lines` are those with a description. `chosen`: `lines` are all lines. `ranked`: bodies
   * are shown, and `lines` is the ranking.
   */
  readonly kind: 'described' | 'chosen' | 'ranked';
  /** Lines by id, in their order; empty texts for `ranked`. */
  readonly lines: ReadonlyMap<string, string>;
  /** Whether skills were missing then. When none is any more, the thread chooses once more. */
  readonly provisional: boolean;
}

/** The choice of one thread, to be read and replaced. */
export interface ThreadChoice {
  get(): CatalogChoice | undefined;
  set(choice: CatalogChoice): void;
}

/** Remembers the choices of threads, so that the text of later turns begins with the same lines, which prompt caches need. */
export interface ThreadChoices {
  /** Undefined without a thread; such a turn chooses all lines itself. */
  of(turn: TurnContext): ThreadChoice | undefined;
}

/** What a turn goes on from. @param isWhole - Whether no skill is missing now. */
export function choiceToKeep(thread: ThreadChoice | undefined, isWhole: boolean): CatalogChoice | undefined {
  const before = thread?.get();
  return before?.provisional && isWhole ? undefined : before;
}

/** The end of a thread is not reported, so the least recently used are removed. */
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
          // Now it is the last one.
          if (choice) choices.set(key, choice);
          return choice;
        },
        set: (choice) => void choices.set(key, choice),
      };
    },
  };
}
