import { approveHeldExtensions } from '../held/ask-person.ts';
import { canConfirm, type ExtensionRecord } from './extension-record.ts';
import type { Root } from './untrusted-root.ts';

/** A reload that an extension asks for: it waits until no turn runs, and a person is asked before what agents wrote is loaded. */
export interface Restart {
  request(): void;
  /** No reload begins while `turn` runs. */
  duringTurn<T>(turn: () => Promise<T>): Promise<T>;
  /** A reload has begun; it is the one that was asked for. */
  begun(): void;
}

export interface RestartSurroundings {
  readonly root: Root;
  /** Ends waiting for an answer: the kernel is to stop. */
  readonly interrupted: AbortSignal;
  /** Whether the kernel is neither starting nor stopped. */
  isUp(): boolean;
  running(): readonly ExtensionRecord[];
  notifyUser(text: string): void;
  reload(): Promise<void>;
}

export function createRestart({ root, interrupted, isUp, running, notifyUser, reload }: RestartSurroundings): Restart {
  /** Digests of held extensions that a person was asked about. */
  const asked = new Set<string>();
  let requested = false;
  let activeTurns = 0;
  const isDue = (): boolean => requested && activeTurns === 0 && isUp();

  /** What an agent wrote is loaded only after a yes; who has said no is not asked about the same bytes again. */
  const askAndReload = async (): Promise<void> => {
    if (isDue()) {
      const channel = running()
        .map(({ instance }) => instance as unknown)
        .find(canConfirm);
      const ask = channel && ((question: string) => channel.confirm(question, interrupted));
      const { dir: rootDir, trusted } = root;
      if (await approveHeldExtensions({ rootDir, trusted, asked, ask, notifyUser })) root.trusted = true;
    }
    // Meanwhile a turn may have begun.
    if (isDue()) void reload();
  };

  return {
    request() {
      requested = true;
      // Not at once: the caller still has to hear that it worked.
      setImmediate(() => void askAndReload());
    },
    async duringTurn(turn) {
      activeTurns++;
      try {
        return await turn();
      } finally {
        activeTurns--;
        // Before the caller goes on: a line that was typed meanwhile is no answer.
        await askAndReload();
      }
    },
    begun() {
      requested = false;
    },
  };
}
