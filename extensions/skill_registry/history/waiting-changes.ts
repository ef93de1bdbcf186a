import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isCodedError, type Problem } from 'skill-registry/kernel';
import { whyNoSqlite } from '../../../lib/sqlite/index.ts';
import type { Skill } from '../skill/skill.ts';
import { CHANGE_WAITS } from '../trust/reasons.ts';
import { changeUnfinished, type Unfinished } from './errors.ts';
import { createHistoryFile } from './history-file.ts';
import { waitingIn } from './journal-entries.ts';
import { skillKey } from './skill-location.ts';

/** Changes that ended processes have left in a root that nobody has approved: nothing there finishes or undoes them. */
export interface WaitingChanges {
  /** Looks at the journal again, if the history has changed. */
  renew(): void;
  /** Why agents are not given a skill; undefined when no change of it waits. */
  keptBecause(skill: Skill): string | undefined;
  /** CHANGE_UNFINISHED; why the history cannot be read. */
  problems(): readonly Problem[];
  close(): void;
}

/** @param dataDir - `<root>/data/skill_registry`. Nothing in it is written. */
export function openWaitingChanges(root: string, dataDir: string): WaitingChanges {
  const path = join(dataDir, 'history.db');
  const file = createHistoryFile(path, true);
  let waiting: readonly Unfinished[] = [];
  let problems: readonly Problem[] = [];
  return {
    renew() {
      [waiting, problems] = [[], []];
      if (!existsSync(path) || whyNoSqlite() !== undefined) return;
      try {
        waiting = waitingIn(file.reading());
        problems = waiting.map((change) => {
          const { code, message } = changeUnfinished(change);
          return { code, severity: 'error', file: path, message };
        });
      } catch (error) {
        if (!isCodedError(error)) throw error;
        problems = [{ code: error.code, severity: 'warning', file: path, message: error.message }];
      }
    },
    keptBecause(skill) {
      if (waiting.length === 0) return undefined;
      const key = skillKey(skill, root);
      return waiting.some((change) => change.key === key) ? CHANGE_WAITS : undefined;
    },
    problems: () => problems,
    close: () => file.close(),
  };
}
