import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type CodedError, describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import { whyNoSqlite } from '../../../lib/sqlite/index.ts';
import type { Skill } from '../skill/skill.ts';
import { CHANGE_WAITS } from '../trust/reasons.ts';
import { changeUnfinished, historyDamaged, historyRefused, type Unfinished } from './errors.ts';
import { countWaitingProposals, sqliteRefusal } from './history-database.ts';

/** Changes that ended processes have left in a root that nobody has approved: nothing there finishes or undoes them. */
export interface WaitingChanges {
  /** Looks at the journal again, if the history has changed. */
  renew(): Promise<void>;
  /** Why agents are not given a skill; undefined when no change of it waits. */
  heldBecause(skill: Skill): string | undefined;
  /** CHANGE_UNFINISHED; why the history cannot be read. */
  problems(): readonly Problem[];
  /** As of the last `renew`. */
  waitingProposals(): number;
  close(): void;
}

/** @param dataDir - `<root>/data/skill_registry`. Nothing in it is written. */
export function openWaitingChanges(root: string, dataDir: string): WaitingChanges {
  const path = join(dataDir, 'history.db');
  let starting: Promise<Reading> | undefined;
  let reading: Reading | undefined;
  let closed = false;
  let waiting: readonly Unfinished[] = [];
  let proposals = 0;
  let problems: readonly Problem[] = [];
  return {
    async renew() {
      if (!existsSync(path) || whyNoSqlite() !== undefined) {
        [waiting, proposals, problems] = [[], 0, []];
        return;
      }
      starting ??= startReading(path);
      reading = await starting;
      if (closed) return;
      [waiting, proposals, problems] = [[], 0, []];
      try {
        waiting = reading.waiting();
        problems = waiting.map((change) => {
          const { code, message } = changeUnfinished(change);
          return { code, severity: 'error', file: path, message };
        });
        proposals = reading.waitingProposals();
      } catch (error) {
        const { code, message } = explained(path, error);
        problems = [...problems, { code, severity: 'warning', file: path, message }];
      }
    },
    heldBecause(skill) {
      if (waiting.length === 0 || !reading) return undefined;
      const key = reading.keyOf(skill, root);
      return waiting.some((change) => change.key === key) ? CHANGE_WAITS : undefined;
    },
    problems: () => problems,
    waitingProposals: () => proposals,
    close() {
      closed = true;
      reading?.close();
    },
  };
}

// --- internal ---

interface Reading {
  waiting(): readonly Unfinished[];
  waitingProposals(): number;
  readonly keyOf: typeof import('./skill-location.ts').skillKey;
  close(): void;
}

/** Most roots that nobody has approved have no history, and its modules take time to load. */
async function startReading(path: string): Promise<Reading> {
  const [{ createHistoryFile }, { unfinishedIn }, { skillKey }] = await Promise.all([
    import('./history-file.ts'),
    import('./journal-entries.ts'),
    import('./skill-location.ts'),
  ]);
  const file = createHistoryFile(path, true);
  return {
    waiting: () => unfinishedIn(file.reading()),
    waitingProposals: () => countWaitingProposals(file.reading()),
    keyOf: skillKey,
    close: () => file.close(),
  };
}

/** Every error is about the history, and its file is not opened again, not even to check it. */
function explained(file: string, error: unknown): CodedError {
  if (isCodedError(error)) return error;
  const refusal = sqliteRefusal(error) ?? 'other';
  return refusal === 'damaged' ? historyDamaged(file, describeError(error)) : historyRefused(refusal, file, error);
}
