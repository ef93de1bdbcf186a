import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isCodedError, type Problem } from 'skill-registry/kernel';
import { isCode } from '../../kernel/host.ts';
import { noteApproved } from './decide/decide.ts';
import { createProposals } from './decide/proposals.ts';
import type { ChangeContext } from './history/change-context.ts';
import { createHistory } from './history/history.ts';
import { historyError } from './history/history-database.ts';
import { createManagement } from './history/manage.ts';
import { createRecorder, type Recorder } from './history/recorder.ts';
import { locationOfKey } from './history/skill-location.ts';
import type { History, Management } from './history/types.ts';
import { Writer, type WriterOptions } from './history/writer.ts';
import { writeDueReports } from './propose/reports.ts';
import type { Proposals } from './propose/types.ts';

/** Everything that is kept of skills beside what they are now, and the one way to change them. */
export interface OpenChanges {
  readonly proposals: Proposals;
  readonly history: History;
  readonly management: Management;
  /** Ends what a process that died has left undone. A history that cannot be used is a problem from then on. */
  recover(): Promise<void>;
  /** What is known to be wrong with the history: why it cannot be used, and what in it cannot be ended. */
  problems(): readonly Problem[];
  /** What an error of the history means; any other stays as it is. */
  explain(error: unknown): unknown;
  /**
   * Until `signal` aborts, keeps in the history what skills become by other hands, and tells of proposals that arrive.
   *
   * @param onProblem - Told when the history cannot be used. Skills are read as ever.
   */
  keep(signal: AbortSignal, onChange: (listener: () => void) => () => void, onProblem: () => void): Promise<void>;
  close(): void;
}

export type ChangeOptions = Omit<WriterOptions, 'maxBytes' | 'locationOf' | 'isCode' | 'follower'>;

/** Files beside SKILL.md give no sign when they change, so they are looked at now and then. */
const LOOK_MS = 30_000;
const ANNOUNCE_MS = 1_000;

/** What the registry gives: all of the context but what writes. */
export type ChangeSource = Omit<ChangeContext, 'writer'>;

export function openChanges(source: ChangeSource, options: ChangeOptions): OpenChanges {
  const { root, limits } = source;
  const writer = new Writer({
    ...options,
    follower: {
      onCommit: noteApproved,
      catchUp: (database, dataDir, at) => writeDueReports(database, dataDir, options.onStep ?? (() => undefined), at),
    },
    maxBytes: limits.file_bytes,
    isCode: (path) => isCode(root, path) || source.sources().some((one) => one.isCode?.(path)),
    locationOf: (skillId, key, id) => locationOfKey(skillId, key, { sources: source.sources(), root }, id),
  });
  const context: ChangeContext = { ...source, writer };
  const recorder = createRecorder(context);
  const proposals = createProposals(context);
  /** Why the history cannot be used; it may be mended, or free again, at the next look. */
  let damage: Problem | undefined;
  const problems = (): readonly Problem[] => [...(damage ? [damage] : []), ...writer.problems()];
  const noteDamage = (error: unknown): void => {
    damage = problemOf(error, writer.dataDir);
  };
  return {
    proposals,
    history: createHistory(context, recorder),
    management: createManagement(context),
    problems,
    explain: (error) => writer.explain(error),
    close: () => writer.close(),
    async recover() {
      try {
        // Whoever is writing now has ended it already, and a start waits for nobody.
        if (writer.hasUnfinished()) writer.ifFree(() => undefined);
      } catch (error) {
        noteDamage(error);
      }
    },
    async keep(signal, onChange, onProblem) {
      const look = async (isDue: boolean): Promise<void> => {
        const known = messagesOf(problems());
        try {
          proposals.announce();
          if (isDue) await recordNow(options.mayRecover ?? true, writer, recorder, problems, signal);
          if (isDue) damage = undefined;
        } catch (error) {
          if (!signal.aborted) noteDamage(error);
        }
        if (!signal.aborted && problems().some(({ message }) => !known.has(message))) onProblem();
      };
      await lookAgainAndAgain(look, signal, onChange);
    },
  };
}

// --- internal ---

async function recordNow(
  mayRecover: boolean,
  writer: Writer,
  recorder: Recorder,
  problems: () => readonly Problem[],
  signal: AbortSignal,
): Promise<void> {
  if (!mayRecover) return;
  // What could not be ended before may be now.
  if (problems().length > 0) writer.ifFree(() => undefined);
  await recorder.recordAll(signal);
}

/** Every second until `signal` aborts; `isDue` after a change, and every half minute. */
async function lookAgainAndAgain(
  look: (isDue: boolean) => Promise<void>,
  signal: AbortSignal,
  onChange: (listener: () => void) => () => void,
): Promise<void> {
  let changed = true;
  const unsubscribe = onChange(() => {
    changed = true;
  });
  const pause = (): Promise<unknown> => wait(ANNOUNCE_MS, undefined, { signal }).catch(() => undefined);
  try {
    // The first look reads every skill: it can wait until the start is over.
    await pause();
    // A clock that is set back must not end the looking.
    for (let lookedAt = performance.now(); !signal.aborted; ) {
      const isDue = changed || performance.now() - lookedAt > LOOK_MS;
      if (isDue) [changed, lookedAt] = [false, performance.now()];
      await look(isDue);
      await pause();
    }
  } finally {
    unsubscribe();
  }
}

function problemOf(error: unknown, dataDir: string): Problem {
  const file = join(dataDir, 'history.db');
  const known = historyError(file, error, file);
  const [code, message] = isCodedError(known) ? [known.code, known.message] : ['STORE_UNAVAILABLE', String(known)];
  // Where nothing may be written, all that is kept can be read.
  return { code, severity: code === 'WRITE_FAILED' ? 'warning' : 'error', file, message };
}

function messagesOf(problems: readonly Problem[]): ReadonlySet<string> {
  return new Set(problems.map(({ message }) => message));
}
