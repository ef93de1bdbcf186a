import { setTimeout as wait } from 'node:timers/promises';
import { describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import { createHistory } from './proposals/history.ts';
import { createManagement } from './proposals/manage.ts';
import { createProposals } from './proposals/proposals.ts';
import type { RetrievalEffect } from './proposals/propose.ts';
import { createRecorder } from './proposals/recorder.ts';
import type { Shelf } from './proposals/targets.ts';
import type { History, Management, Proposals } from './proposals/types.ts';
import { createWriter, type WriterOptions } from './proposals/writer.ts';

/** Everything that is kept of skills beside what they are now, and the one way to change them. */
export interface OpenRecords {
  readonly proposals: Proposals;
  readonly history: History;
  readonly management: Management;
  /** Ends what a process that died has left undone. A history that cannot be used is a problem from then on. */
  recover(): Promise<void>;
  /** HISTORY_DAMAGED, HISTORY_NEWER, once it is known. */
  problems(): readonly Problem[];
  /**
   * Until `signal` aborts, keeps in the history what skills become by other hands, and tells of proposals that arrive.
   *
   * @param onProblem - Told when the history cannot be used. Skills are read as ever.
   */
  keep(signal: AbortSignal, onChange: (listener: () => void) => () => void, onProblem: () => void): Promise<void>;
  close(): void;
}

/** Files beside SKILL.md give no sign when they change, so they are looked at now and then. */
const LOOK_MS = 30_000;
const ANNOUNCE_MS = 1_000;

export function openRecords(
  shelf: Shelf,
  options: Omit<WriterOptions, 'maxBytes'>,
  retrieval?: RetrievalEffect,
): OpenRecords {
  const writer = createWriter({ ...options, maxBytes: shelf.limits.file_bytes });
  const recorder = createRecorder(shelf, writer);
  const desk = createProposals(shelf, writer, retrieval);
  let damage: Problem | undefined;

  return {
    proposals: desk,
    history: createHistory(shelf, writer, recorder),
    management: createManagement(shelf, writer),
    async recover() {
      try {
        // Whoever is writing now has ended it already, and a start waits for nobody.
        if (writer.hasUnfinished()) writer.ifFree(() => undefined);
      } catch (error) {
        damage = problemOf(error, writer.dataDir);
      }
    },
    problems: () => (damage ? [damage] : []),
    async keep(signal, onChange, onProblem) {
      let due = true;
      const unsubscribe = onChange(() => {
        due = true;
      });
      try {
        // The first look reads every skill: it can wait until the start is over.
        await wait(ANNOUNCE_MS, undefined, { signal }).catch(() => undefined);
        // A clock that is set back must not end the looking.
        for (let lookedAt = performance.now(); !signal.aborted; ) {
          try {
            if (due || performance.now() - lookedAt > LOOK_MS) {
              due = false;
              lookedAt = performance.now();
              await recorder.recordAll(signal);
            }
            desk.announce();
            damage = undefined;
          } catch (error) {
            if (signal.aborted) return;
            // It may be mended, or free again, at the next look.
            const known = damage;
            damage = problemOf(error, writer.dataDir);
            if (known?.message !== damage.message) onProblem();
          }
          await wait(ANNOUNCE_MS, undefined, { signal }).catch(() => undefined);
        }
      } finally {
        unsubscribe();
      }
    },
    close: () => writer.close(),
  };
}

// --- internal ---

function problemOf(error: unknown, dataDir: string): Problem {
  const code = isCodedError(error) ? error.code : 'HISTORY_DAMAGED';
  const message = isCodedError(error) ? error.message : `The history cannot be kept: ${describeError(error)}`;
  return { code, severity: 'error', file: `${dataDir}/history.db`, message };
}
