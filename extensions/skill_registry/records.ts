import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { whyNoSqlite } from '../../lib/sqlite/index.ts';
import { isAtRest } from './history/history-database.ts';
import type { Shelf } from './history/targets.ts';
import type { Proposal } from './history/types.ts';
import type { OpenRecords, RecordsOptions } from './open-records.ts';
import type { RetrievalEffect } from './propose/propose.ts';
import { registryClosed } from './skill/errors.ts';

/** As `OpenRecords`; opened when somebody needs them, because most processes only read skills. */
export type Records = Omit<OpenRecords, 'close' | 'explain'> & { close(): Promise<void> };

export function createRecords(shelf: Shelf, options: RecordsOptions, retrieval: RetrievalEffect): Records {
  const listeners = new Set<(proposal: Proposal) => void>();
  let opening: Promise<OpenRecords> | undefined;
  let opened: OpenRecords | undefined;
  let closed = false;
  const open = async (): Promise<OpenRecords> => {
    if (closed) throw registryClosed();
    opening ??= import('./open-records.ts').then(({ openRecords }) => {
      opened = openRecords(shelf, options, retrieval);
      opened.proposals.onArrival((proposal) => {
        for (const listener of listeners) listener(proposal);
      });
      return opened;
    });
    return opening;
  };
  /** What the database says is told in words of the history. */
  const call = async <T>(use: (records: OpenRecords) => Promise<T>): Promise<T> => {
    const records = await open();
    try {
      return await use(records);
    } catch (error) {
      throw records.explain(error);
    }
  };

  return {
    proposals: {
      propose: (...args) => call(({ proposals }) => proposals.propose(...args)),
      list: (...args) => call(({ proposals }) => proposals.list(...args)),
      get: (...args) => call(({ proposals }) => proposals.get(...args)),
      approve: (...args) => call(({ proposals }) => proposals.approve(...args)),
      reject: (...args) => call(({ proposals }) => proposals.reject(...args)),
      recommend: (...args) => call(({ proposals }) => proposals.recommend(...args)),
      purge: (...args) => call(({ proposals }) => proposals.purge(...args)),
      stats: (...args) => call(({ proposals }) => proposals.stats(...args)),
      onArrival(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    history: {
      revisions: (...args) => call(({ history }) => history.revisions(...args)),
      read: (...args) => call(({ history }) => history.read(...args)),
      diff: (...args) => call(({ history }) => history.diff(...args)),
      rollback: (...args) => call(({ history }) => history.rollback(...args)),
      restore: (...args) => call(({ history }) => history.restore(...args)),
    },
    management: {
      create: (...args) => call(({ management }) => management.create(...args)),
      write: (...args) => call(({ management }) => management.write(...args)),
      remove: (...args) => call(({ management }) => management.remove(...args)),
    },
    async recover() {
      if (options.mayRecover === false) return;
      // Asked of the database alone: a start that has nothing to end need not load what ends it.
      const file = join(options.dataDir, 'history.db');
      if (existsSync(file) && whyNoSqlite() === undefined && !isAtRest(file)) await (await open()).recover();
    },
    problems: (): readonly Problem[] => opened?.problems() ?? [],
    keep: async (...args) => (await open()).keep(...args),
    async close() {
      closed = true;
      (await opening)?.close();
    },
  };
}
