import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { whyNoSqlite } from '../../lib/sqlite/index.ts';
import { registryClosed } from './core/skill/errors.ts';
import { countWaitingProposals, isAllFinished } from './features/history/history-database.ts';
import type { Proposal } from './features/proposals/propose/types.ts';
import type { ChangeOptions, ChangeSource, OpenChanges } from './open-changes.ts';

/** Opened at first use: most processes only read skills. */
export interface Changes {
  /** Throws the errors of `work` as `Writer.explain` gives them. */
  run<Result>(work: (open: OpenChanges) => Result | Promise<Result>): Promise<Result>;
  /** Called for new proposals. */
  readonly listeners: Set<(proposal: Proposal) => void>;
  recover(): Promise<void>;
  /** For a root that may be written. */
  waitingProposals(): Promise<number>;
  problems(): readonly Problem[];
  close(): Promise<void>;
}

export function createChanges(source: Omit<ChangeSource, 'listeners'>, options: ChangeOptions): Changes {
  const listeners = new Set<(proposal: Proposal) => void>();
  let opening: Promise<OpenChanges> | undefined;
  let opened: OpenChanges | undefined;
  let closed = false;
  const open = async (): Promise<OpenChanges> => {
    if (closed) throw registryClosed();
    opening ??= import('./open-changes.ts').then(({ openChanges }) => {
      opened = openChanges({ ...source, listeners }, options);
      return opened;
    });
    return opening;
  };
  const file = join(options.dataDir, 'history.db');
  const hasHistory = (): boolean => existsSync(file) && whyNoSqlite() === undefined;
  return {
    listeners,
    async run(work) {
      const changes = await open();
      try {
        return await work(changes);
      } catch (error) {
        throw changes.explain(error);
      }
    },
    async recover() {
      if (options.mayRecover === false) return;
      // Asks only the database: a start with nothing to recover loads no more code.
      if (hasHistory() && !isAllFinished(file)) await (await open()).recover();
    },
    async waitingProposals() {
      if (!hasHistory()) return 0;
      const { createHistoryFile } = await import('./features/history/history-file.ts');
      const history = createHistoryFile(file, false);
      try {
        return countWaitingProposals(history.reading());
      } catch {
        // `list` throws the reason.
        return 0;
      } finally {
        history.close();
      }
    },
    problems: () => opened?.problems() ?? [],
    async close() {
      closed = true;
      (await opening)?.close();
    },
  };
}
