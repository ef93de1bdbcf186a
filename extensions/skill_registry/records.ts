import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { registryClosed } from './errors.ts';
import { isAtRest } from './history-database.ts';
import type { OpenRecords } from './open-records.ts';
import type { RetrievalEffect } from './proposals/propose.ts';
import type { Shelf } from './proposals/targets.ts';
import type { Proposal } from './proposals/types.ts';
import type { WriterOptions } from './proposals/writer.ts';

/** As `OpenRecords`; opened when somebody needs them, because most processes only read skills. */
export type Records = Omit<OpenRecords, 'close'> & { close(): Promise<void> };

export function createRecords(
  shelf: Shelf,
  options: Omit<WriterOptions, 'maxBytes'>,
  retrieval: RetrievalEffect,
): Records {
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

  return {
    proposals: {
      propose: async (...args) => (await open()).proposals.propose(...args),
      list: async (...args) => (await open()).proposals.list(...args),
      get: async (...args) => (await open()).proposals.get(...args),
      approve: async (...args) => (await open()).proposals.approve(...args),
      reject: async (...args) => (await open()).proposals.reject(...args),
      recommend: async (...args) => (await open()).proposals.recommend(...args),
      purge: async (...args) => (await open()).proposals.purge(...args),
      stats: async (...args) => (await open()).proposals.stats(...args),
      onArrival(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    history: {
      revisions: async (...args) => (await open()).history.revisions(...args),
      read: async (...args) => (await open()).history.read(...args),
      diff: async (...args) => (await open()).history.diff(...args),
      rollback: async (...args) => (await open()).history.rollback(...args),
      restore: async (...args) => (await open()).history.restore(...args),
    },
    management: {
      create: async (...args) => (await open()).management.create(...args),
      write: async (...args) => (await open()).management.write(...args),
      remove: async (...args) => (await open()).management.remove(...args),
    },
    async recover() {
      // Asked of the database alone: a start that has nothing to end need not load what ends it.
      const file = join(options.dataDir, 'history.db');
      if (existsSync(file) && !isAtRest(file)) await (await open()).recover();
    },
    problems: (): readonly Problem[] => opened?.problems() ?? [],
    keep: async (...args) => (await open()).keep(...args),
    async close() {
      closed = true;
      (await opening)?.close();
    },
  };
}
