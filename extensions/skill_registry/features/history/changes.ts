import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { withFallback } from '../../../../lib/errors/index.ts';
import { whyNoSqlite } from '../../../../lib/sqlite/index.ts';
import type { Core } from '../../core/feature.ts';
import { countWaitingProposals, isAllFinished } from './journal/history-database.ts';
import { createHistoryFile } from './journal/history-file.ts';
import type { Joining, OpenChanges } from './open-changes.ts';

/** Opened at first use: most processes only read skills. */
export interface Changes {
  /** Throws the errors of `work` as `Writer.explain` gives them. */
  run<Result>(work: (open: OpenChanges) => Result | Promise<Result>): Promise<Result>;
  /** For a feature with changes of its own. @param load - Called when the history is opened. */
  join(load: () => Promise<Joining>): void;
  recover(): Promise<void>;
  hasHistory(): boolean;
  /** In about 1 ms; 0 for a history that cannot be read. */
  waitingProposals(): Promise<number>;
  problems(): readonly Problem[];
  close(): Promise<void>;
}

export function createChanges(core: Core): Changes {
  const { dataDir, trusted } = core;
  const joined: (() => Promise<Joining>)[] = [];
  let opening: Promise<OpenChanges> | undefined;
  let opened: OpenChanges | undefined;
  const load = async (): Promise<OpenChanges> => {
    const { openChanges } = await import('./open-changes.ts');
    const joinings = await Promise.all(joined.map((one) => one()));
    const changes = openChanges(core, joinings);
    for (const joining of joinings) joining.open?.(changes.context);
    opened = changes;
    return changes;
  };
  const open = async (): Promise<OpenChanges> => {
    core.assertOpen();
    opening ??= load();
    return opening;
  };
  const file = join(dataDir, 'history.db');
  const hasHistory = (): boolean => existsSync(file) && whyNoSqlite() === undefined;
  return {
    async run(work) {
      const changes = await open();
      try {
        return await work(changes);
      } catch (error) {
        throw changes.context.writer.explain(error);
      }
    },
    join: (one) => void joined.push(one),
    hasHistory,
    async recover() {
      // Asks only the database: a start with nothing to recover loads no more code.
      if (trusted && hasHistory() && !isAllFinished(file)) await (await open()).recover();
    },
    async waitingProposals() {
      if (!hasHistory()) return 0;
      const history = createHistoryFile(file, !trusted);
      // Where it cannot be read, `list` throws the reason.
      const count = withFallback(() => countWaitingProposals(history.reading()), 0);
      history.close();
      return count;
    },
    problems: () => opened?.problems() ?? [],
    async close() {
      (await opening)?.context.writer.close();
    },
  };
}
