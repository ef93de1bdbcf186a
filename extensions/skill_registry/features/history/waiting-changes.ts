import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type CodedError, describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import { whyNoSqlite } from '../../../../lib/sqlite/index.ts';
import { CHANGE_WAITS } from '../../core/skill/held.ts';
import type { Skill } from '../../core/skill/skill.ts';
import { changeUnfinished, historyDamaged, historyRefused, type Unfinished } from './errors.ts';
import { countWaitingProposals, sqliteRefusal } from './journal/history-database.ts';

export interface WaitingChanges {
  /** Reads the journal again if the history has changed. */
  renew(): Promise<void>;
  /** undefined when no change of the skill waits. */
  heldBecause(skill: Skill): string | undefined;
  /** CHANGE_UNFINISHED, or why the history cannot be read. */
  problems(): readonly Problem[];
  /** As of the last `renew`. */
  waitingProposals(): number;
  close(): void;
}

/** @param dataDir - `<root>/data/skill_registry`. Nothing in it is written. */
export function openWaitingChanges(root: string, dataDir: string): WaitingChanges {
  const file = join(dataDir, 'history.db');
  let opening: ReturnType<typeof openHistory> | undefined;
  let opened: Awaited<ReturnType<typeof openHistory>> | undefined;
  let closed = false;
  let waiting: readonly Unfinished[] = [];
  let proposals = 0;
  let problems: readonly Problem[] = [];
  return {
    async renew() {
      const isThere = existsSync(file) && whyNoSqlite() === undefined;
      if (isThere) {
        opening ??= openHistory(file);
        opened = await opening;
      }
      if (closed) return;
      [waiting, proposals, problems] = [[], 0, []];
      if (!isThere || !opened) return;
      try {
        const database = opened.history.reading();
        waiting = opened.unfinishedIn(database);
        problems = waiting.map((change) => problemOf('error', file, changeUnfinished(change)));
        proposals = countWaitingProposals(database);
      } catch (error) {
        // Every error is about the history. Its file is not opened again, not even to check it.
        const refusal = sqliteRefusal(error) ?? 'other';
        const told =
          refusal === 'damaged' ? historyDamaged(file, describeError(error)) : historyRefused(refusal, file, error);
        problems = [...problems, problemOf('warning', file, isCodedError(error) ? error : told)];
      }
    },
    heldBecause(skill) {
      if (waiting.length === 0) return undefined;
      const key = opened?.skillKey(skill, root);
      return waiting.some((change) => change.key === key) ? CHANGE_WAITS : undefined;
    },
    problems: () => problems,
    waitingProposals: () => proposals,
    close() {
      closed = true;
      opened?.history.close();
    },
  };
}

// --- internal ---

/** Its modules take time to load, and most roots that nobody has approved have no history. */
async function openHistory(file: string) {
  const [{ createHistoryFile }, { unfinishedIn }, { skillKey }] = await Promise.all([
    import('./journal/history-file.ts'),
    import('./journal/journal-entries.ts'),
    import('./skill-location.ts'),
  ]);
  return { history: createHistoryFile(file, true), unfinishedIn, skillKey };
}

function problemOf(severity: Problem['severity'], file: string, { code, message }: CodedError): Problem {
  return { code, severity, file, message };
}
