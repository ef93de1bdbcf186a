import { join } from 'node:path';
import { type CodedError, describeError, isCodedError, type Problem } from 'skill-registry/kernel';
import type { Skill } from '../../core/skill/skill.ts';
import { CHANGE_WAITS } from '../../core/skill/why-held.ts';
import { changeUnfinished, historyDamaged, historyRefused, type Unfinished } from './errors.ts';
import { sqliteRefusal } from './journal/history-database.ts';
import { createHistoryFile } from './journal/history-file.ts';
import { unfinishedIn } from './journal/journal-entries.ts';
import { skillKey } from './skill-location.ts';

export interface WaitingChanges {
  /** Reads the journal again. */
  renew(): void;
  /** undefined when no change of the skill waits. */
  heldBecause(skill: Skill): string | undefined;
  /** CHANGE_UNFINISHED, or why the history cannot be read. */
  problems(): readonly Problem[];
  close(): void;
}

/** @param dataDir - `<root>/data/skill_registry`. Nothing in it is written. */
export function openWaitingChanges(root: string, dataDir: string): WaitingChanges {
  const file = join(dataDir, 'history.db');
  const history = createHistoryFile(file, true);
  let waiting: readonly Unfinished[] = [];
  let problems: readonly Problem[] = [];
  return {
    renew() {
      [waiting, problems] = [[], []];
      if (!history.exists()) return;
      try {
        waiting = unfinishedIn(history.reading());
        problems = waiting.map((change) => problemOf('error', file, changeUnfinished(change)));
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
      const key = skillKey(skill, root);
      return waiting.some((change) => change.key === key) ? CHANGE_WAITS : undefined;
    },
    problems: () => problems,
    close: () => history.close(),
  };
}

// --- internal ---

function problemOf(severity: Problem['severity'], file: string, { code, message }: CodedError): Problem {
  return { code, severity, file, message };
}
