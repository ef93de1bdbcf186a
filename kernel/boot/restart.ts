import { approveHeldExtensions } from '../held/ask-person.ts';
import { canConfirm, type ExtensionRecord } from './extension-record.ts';
import type { Root } from './untrusted-root.ts';

/** A reload at the request of an extension. It waits until no turn runs, and a person approves what agents wrote first. */
export interface Restart {
  request(): void;
  /** No reload begins while `turn` runs. */
  duringTurn<T>(turn: () => Promise<T>): Promise<T>;
  /** To be called when a reload begins: the request is done. */
  begun(): void;
}

export interface RestartOptions {
  readonly root: Root;
  /** Aborts when the kernel has to stop: a question is then not answered any more. */
  readonly interrupted: AbortSignal;
  /** Whether the kernel is neither starting nor stopped. */
  isUp(): boolean;
  running(): readonly ExtensionRecord[];
  notifyUser(text: string): void;
  reload(): Promise<void>;
}

export function createRestart({ root, interrupted, isUp, running, notifyUser, reload }: RestartOptions): Restart {
  /** Digests of held extensions that a person was asked about. */
  const asked = new Set<string>();
  let requested = false;
  let activeTurns = 0;
  const isDue = (): boolean => requested && activeTurns === 0 && isUp();

  /** Loads what agents wrote only after a yes. After a no, the person is not asked about the same content again. */
  const askAndReload = async (): Promise<void> => {
    if (isDue()) {
      const channel = running()
        .map(({ instance }) => instance as unknown)
        .find(canConfirm);
      const ask = channel && ((question: string) => channel.confirm(question, interrupted));
      const { dir: rootDir, trusted } = root;
      if (await approveHeldExtensions({ rootDir, trusted, asked, ask, notifyUser })) root.trusted = true;
    }
    // A turn may have begun meanwhile.
    if (isDue()) void reload();
  };

  return {
    request() {
      requested = true;
      // Later, so that the caller gets its result first.
      setImmediate(() => void askAndReload());
    },
    async duringTurn(turn) {
      activeTurns++;
      try {
        return await turn();
      } finally {
        activeTurns--;
        // Before the caller reads the next line: a line that was typed before the question must not answer it.
        await askAndReload();
      }
    },
    begun() {
      requested = false;
    },
  };
}
