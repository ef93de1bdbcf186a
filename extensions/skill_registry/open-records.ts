import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isCode, isCodedError, type Problem } from 'skill-registry/kernel';
import { createHistory } from './proposals/history.ts';
import { historyError } from './proposals/history-error.ts';
import { createManagement } from './proposals/manage.ts';
import { placeOfKey } from './proposals/places.ts';
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
  /** What is known to be wrong with the history: why it cannot be used, and what in it cannot be ended. */
  problems(): readonly Problem[];
  /** What an error of the history means; any other stays as it is. */
  explain(error: unknown): unknown;
  /**
   * Until `signal` aborts, keeps in the history what skills become by other hands, and tells of proposals that arrive.
   *
   * @param onProblem - Told when the history cannot be used. Skills are read as ever.
   */
  keep(signal: AbortSignal, onChange: (listener: () => void) => () => void, onProblem: () => void): Promise<void>;
  close(): void;
}

export type RecordsOptions = Omit<WriterOptions, 'maxBytes' | 'placeOf' | 'isCode'>;

/** Files beside SKILL.md give no sign when they change, so they are looked at now and then. */
const LOOK_MS = 30_000;
const ANNOUNCE_MS = 1_000;

export function openRecords(given: Shelf, options: RecordsOptions, retrieval?: RetrievalEffect): OpenRecords {
  const shelf: Shelf = {
    ...given,
    // The change is made by then. What a look at the skills meets is in their own problems.
    refresh: () => given.refresh().catch(() => undefined),
  };
  const writer = createWriter({
    ...options,
    maxBytes: shelf.limits.file_bytes,
    isCode: (path) => isCode(shelf.root, path) || shelf.sources().some((source) => source.isCode?.(path)),
    placeOf: (skillId, key, source) => placeOfKey(skillId, key, { sources: shelf.sources(), root: shelf.root }, source),
  });
  const recorder = createRecorder(shelf, writer);
  const desk = createProposals(shelf, writer, retrieval);
  const { mayRecover = true } = options;
  let damage: Problem | undefined;
  const problems = (): readonly Problem[] => [...(damage ? [damage] : []), ...writer.problems()];

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
    problems,
    explain: writer.explain,
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
          const known = messagesOf(problems());
          try {
            desk.announce();
            if (due || performance.now() - lookedAt > LOOK_MS) {
              due = false;
              lookedAt = performance.now();
              // What could not be ended before may be now.
              if (mayRecover && problems().length > 0) writer.ifFree(() => undefined);
              if (mayRecover) await recorder.recordAll(signal);
              damage = undefined;
            }
          } catch (error) {
            if (signal.aborted) return;
            // It may be mended, or free again, at the next look.
            damage = problemOf(error, writer.dataDir);
          }
          if (problems().some(({ message }) => !known.has(message))) onProblem();
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
  const file = join(dataDir, 'history.db');
  const known = historyError(file, error, file);
  const [code, message] = isCodedError(known) ? [known.code, known.message] : ['STORE_UNAVAILABLE', String(known)];
  // Where nothing may be written, all that is kept can be read.
  return { code, severity: code === 'WRITE_FAILED' ? 'warning' : 'error', file, message };
}

function messagesOf(problems: readonly Problem[]): ReadonlySet<string> {
  return new Set(problems.map(({ message }) => message));
}
