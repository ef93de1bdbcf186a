import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { CodedError, Problem } from 'skill-registry/kernel';
import { isCode } from '../../../../kernel/host.ts';
import type { Core } from '../../core/feature.ts';
import { cacheFilesOf } from '../../core/store/cache.ts';
import type { ChangeContext, ConflictProposals } from './change-context.ts';
import { createHistory, type OpenHistory } from './history.ts';
import { historyError } from './journal/history-database.ts';
import { Writer, type WriterOptions } from './journal/writer.ts';
import { createManagement } from './manage.ts';
import { RevisionRecorder } from './recorder.ts';
import { folderOf, installFolders, locationOfKey } from './skill-location.ts';
import type { Management } from './types.ts';

export interface OpenChanges {
  readonly context: ChangeContext;
  readonly history: OpenHistory;
  readonly management: Management;
  /** Undefined: nobody can be asked about a conflict. */
  readonly conflicts: ConflictProposals | undefined;
  /** Finishes or undoes changes of ended processes. An unusable history becomes a problem. */
  recover(): Promise<void>;
  /** Why the history cannot be used, and which changes are unfinished. */
  problems(): readonly Problem[];
  /** Until `signal` aborts, records changes on disk and announces what other processes did. */
  keep(signal: AbortSignal, onChange: (listener: () => void) => () => void, onProblem: () => void): Promise<void>;
}

/** Opens the history at first use: most processes only read skills. Throws the errors of `work` as `Writer.explain`. */
export type RunChanges = <Result>(work: (open: OpenChanges) => Result | Promise<Result>) => Promise<Result>;

/** What another feature does when the writer writes. */
export type Joining = Partial<Pick<WriterOptions, 'onCommit' | 'catchUp' | 'changeLock'>> & {
  /** Called when the history is open. */
  readonly open?: (context: ChangeContext) => void;
  /** Called every second while the registry watches. */
  readonly announce?: () => void;
  readonly conflicts?: (context: ChangeContext) => ConflictProposals;
};

/** Nothing signals a change of other files than SKILL.md, so all skills are checked this often. */
const CHECK_MS = 30_000;
const ANNOUNCE_MS = 1_000;

export function openChanges(core: Core, joinings: readonly Joining[]): OpenChanges {
  const { catalog, config, root, trusted } = core;
  const writer = new Writer({
    dataDir: core.dataDir,
    onStep: (step) => void core.hooks.call('onWriteStep', () => core.options.onWriteStep?.(step)),
    mayRecover: trusted,
    onCommit: (...given) => joinings.forEach(({ onCommit }) => void onCommit?.(...given)),
    catchUp: (...given) => joinings.flatMap(({ catchUp }) => catchUp?.(...given) ?? []),
    changeLock: (...given) => joinings.forEach(({ changeLock }) => void changeLock?.(...given)),
    maxBytes: config.limits.file_bytes,
    isCode: (path) => isCode(root, path) || catalog.sources().some((candidate) => candidate.isCode?.(path)),
    locationOf: (skillId, key, id) =>
      locationOfKey(skillId, key, { sources: installFolders(root, catalog.sources()), root }, id),
  });
  const context: ChangeContext = {
    writer,
    root,
    trusted,
    caches: cacheFilesOf(root),
    limits: config.limits,
    writes: config.writes,
    collision: config.collision,
    snapshot: () => catalog.snapshot(),
    sources: () => catalog.sources(),
    scopes: core.scopes,
    events: core.events,
    refresh: (written) =>
      (written ? catalog.refreshSkill(folderOf(written)) : catalog.refresh()).catch(() => undefined),
    admit: core.admit,
  };
  const recorder = new RevisionRecorder(context);
  /** Of the last attempt. */
  let historyProblem: Problem | undefined;
  const problems = (): readonly Problem[] => [...(historyProblem ? [historyProblem] : []), ...writer.problems()];
  const noteHistoryProblem = (error: unknown): void => {
    const file = join(writer.dataDir, 'history.db');
    // With a file that is opened, every error gets a code.
    const { code, message } = historyError(file, error, file) as CodedError;
    // With WRITE_FAILED the history can still be read.
    historyProblem = { code, severity: code === 'WRITE_FAILED' ? 'warning' : 'error', file, message };
  };
  return {
    context,
    history: createHistory(context, recorder),
    management: createManagement(context, recorder),
    conflicts: joinings.find(({ conflicts }) => conflicts)?.conflicts?.(context),
    problems,
    async recover() {
      try {
        // A process that writes now has already recovered them, and a start must not wait for it.
        if (writer.hasUnfinished()) writer.ifFree(() => undefined);
      } catch (error) {
        noteHistoryProblem(error);
      }
    },
    async keep(signal, onChange, onProblem) {
      const recordAndAnnounce = async (isDue: boolean): Promise<void> => {
        const before = new Set(problems().map(({ message }) => message));
        try {
          for (const { announce } of joinings) announce?.();
          // A change that could not be undone before may be undone now.
          if (isDue && trusted && before.size > 0) writer.ifFree(() => undefined);
          if (isDue && trusted) await recorder.recordAll(signal);
          if (isDue) historyProblem = undefined;
        } catch (error) {
          if (!signal.aborted) noteHistoryProblem(error);
        }
        if (!signal.aborted && problems().some(({ message }) => !before.has(message))) onProblem();
      };
      await repeatUntilAborted(recordAndAnnounce, signal, onChange);
    },
  };
}

// --- internal ---

/** Every second; `isDue` after a change, and every 30 seconds. */
async function repeatUntilAborted(
  work: (isDue: boolean) => Promise<void>,
  signal: AbortSignal,
  onChange: (listener: () => void) => () => void,
): Promise<void> {
  let changed = true;
  const unsubscribe = onChange(() => {
    changed = true;
  });
  const pause = (): Promise<unknown> => wait(ANNOUNCE_MS, undefined, { signal }).catch(() => undefined);
  try {
    // A system clock that is set back would stop the checks.
    for (let checkedAt = performance.now(); !signal.aborted; ) {
      const isDue = changed || performance.now() - checkedAt > CHECK_MS;
      if (isDue) [changed, checkedAt] = [false, performance.now()];
      await work(isDue);
      await pause();
    }
  } finally {
    unsubscribe();
  }
}
