import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { CodedError, Problem } from 'skill-registry/kernel';
import { isCode } from '../../kernel/host.ts';
import { createEvaluation } from './features/evaluate/evidence.ts';
import type { EvaluationSource } from './features/evaluate/subject.ts';
import type { Evaluation } from './features/evaluate/types.ts';
import type { ChangeContext } from './features/history/change-context.ts';
import { createHistory, type OpenHistory } from './features/history/history.ts';
import { historyError } from './features/history/history-database.ts';
import { createManagement } from './features/history/manage.ts';
import { RevisionRecorder } from './features/history/recorder.ts';
import { agentFolders, locationOfKey } from './features/history/skill-location.ts';
import type { Management } from './features/history/types.ts';
import { Writer, type WriterOptions } from './features/history/writer.ts';
import { changeLock } from './features/install/lock.ts';
import { createOrigins } from './features/install/origins.ts';
import type { Origins } from './features/install/types.ts';
import { noteApproved } from './features/proposals/decide/decide.ts';
import { createProposals, type OpenProposals } from './features/proposals/decide/proposals.ts';
import { writeDueReports } from './features/proposals/propose/reports.ts';
import type { Proposal } from './features/proposals/propose/types.ts';

export interface OpenChanges {
  readonly proposals: OpenProposals;
  readonly history: OpenHistory;
  readonly management: Management;
  readonly origin: Origins;
  readonly evaluation: Evaluation;
  /** Finishes or undoes changes of ended processes. An unusable history becomes a problem. */
  recover(): Promise<void>;
  /** Why the history cannot be used, and which changes are unfinished. */
  problems(): readonly Problem[];
  explain(error: unknown): unknown;
  /** Until `signal` aborts, records changes on disk and announces new proposals. */
  keep(signal: AbortSignal, onChange: (listener: () => void) => () => void, onProblem: () => void): Promise<void>;
  close(): void;
}

export type ChangeOptions = Pick<WriterOptions, 'dataDir' | 'onStep' | 'mayRecover'>;

/** Nothing signals a change of other files than SKILL.md, so all skills are checked this often. */
const CHECK_MS = 30_000;
const ANNOUNCE_MS = 1_000;

export interface ChangeSource extends Omit<ChangeContext, 'writer'> {
  readonly evaluation: EvaluationSource;
  /** Called for new proposals. */
  readonly listeners: ReadonlySet<(proposal: Proposal) => void>;
}

export function openChanges({ evaluation, listeners, ...source }: ChangeSource, options: ChangeOptions): OpenChanges {
  const { root, limits } = source;
  const { mayRecover = true } = options;
  const writer = new Writer({
    ...options,
    onCommit: noteApproved,
    catchUp: writeDueReports,
    maxBytes: limits.file_bytes,
    changeLock: ({ name, entry }) => changeLock(root, name, entry),
    isCode: (path) => isCode(root, path) || source.sources().some((candidate) => candidate.isCode?.(path)),
    locationOf: (skillId, key, id) =>
      locationOfKey(skillId, key, { sources: [...source.sources(), ...agentFolders(root)], root }, id),
  });
  const context: ChangeContext = { ...source, writer };
  const recorder = new RevisionRecorder(context);
  const proposals = createProposals(context, listeners);
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
    proposals,
    history: createHistory(context, recorder),
    management: createManagement(context, recorder),
    origin: createOrigins(context, mayRecover),
    evaluation: createEvaluation(context, evaluation, proposals),
    problems,
    explain: (error) => writer.explain(error),
    close: () => writer.close(),
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
          proposals.announce();
          // A change that could not be undone before may be undone now.
          if (isDue && mayRecover && before.size > 0) writer.ifFree(() => undefined);
          if (isDue && mayRecover) await recorder.recordAll(signal);
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
    // The first call reads every skill, so it waits until the start is over.
    await pause();
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
