import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from 'skill-registry/kernel';
import { whyNoSqlite } from '../../lib/sqlite/index.ts';
import { countWaitingProposals, isAllFinished } from './history/history-database.ts';
import type { ChangeOptions, ChangeSource, OpenChanges } from './open-changes.ts';
import type { Proposal, Proposals } from './propose/types.ts';
import { registryClosed } from './skill/errors.ts';

/** As `OpenChanges`, but opened on first use, because most processes only read skills. */
export interface Changes extends Pick<OpenChanges, Exclude<Doors, 'proposals'> | 'recover' | 'problems' | 'keep'> {
  readonly proposals: Proposals & Pick<OpenChanges['proposals'], 'textAfter'>;
  /** As `SkillRegistryAdmin.waitingProposals`, in a root that may be written. */
  waitingProposals(): Promise<number>;
  close(): Promise<void>;
}

type Doors = 'proposals' | 'history' | 'management' | 'origin' | 'evaluation';

/** The methods of each door that wait until the history is open; the compiler keeps the lists complete. */
const METHODS: {
  readonly [D in Doors]: Readonly<Record<Exclude<keyof OpenChanges[D], 'announce'>, true>>;
} = {
  proposals: {
    ...{ propose: true, import: true, list: true, get: true, text: true, textAfter: true, edit: true },
    ...{ approve: true, reject: true, recommend: true, purge: true, stats: true },
  },
  history: {
    revisions: true,
    revision: true,
    read: true,
    diff: true,
    rollback: true,
    restore: true,
    filesToRestore: true,
  },
  management: { create: true, add: true, write: true, repair: true, remove: true },
  origin: { add: true, import: true, restore: true, update: true, sources: true, verify: true, remove: true },
  evaluation: { evidence: true, evaluate: true, proposalEvidence: true },
};

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
  /** Opens the history first, and throws its errors as `Writer.explain` gives them. */
  const doorOf = <D extends Doors>(door: D): OpenChanges[D] => {
    const method =
      (name: string) =>
      async (...args: readonly unknown[]) => {
        const changes = await open();
        try {
          return await (changes[door] as unknown as Readonly<Record<string, (...args: unknown[]) => unknown>>)[name]?.(
            ...args,
          );
        } catch (error) {
          throw changes.explain(error);
        }
      };
    return Object.fromEntries(
      Object.keys(METHODS[door]).map((name) => [name, method(name)]),
    ) as unknown as OpenChanges[D];
  };

  const file = join(options.dataDir, 'history.db');
  const hasHistory = (): boolean => existsSync(file) && whyNoSqlite() === undefined;

  return {
    proposals: {
      ...doorOf('proposals'),
      onArrival(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    history: doorOf('history'),
    management: doorOf('management'),
    origin: doorOf('origin'),
    evaluation: doorOf('evaluation'),
    async recover() {
      if (options.mayRecover === false) return;
      // Only the database is asked, so that a start with nothing to recover does not load the code for it.
      if (hasHistory() && !isAllFinished(file)) await (await open()).recover();
    },
    async waitingProposals() {
      if (!hasHistory()) return 0;
      const { createHistoryFile } = await import('./history/history-file.ts');
      const history = createHistoryFile(file, false);
      try {
        return countWaitingProposals(history.reading());
      } catch {
        // Whoever asks for the proposals is told why.
        return 0;
      } finally {
        history.close();
      }
    },
    problems: (): readonly Problem[] => opened?.problems() ?? [],
    keep: async (...args) => (await open()).keep(...args),
    async close() {
      closed = true;
      (await opening)?.close();
    },
  };
}
