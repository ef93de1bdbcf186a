import type { Problem } from 'skill-registry/kernel';
import { type CallHook, createHookCaller } from '../../kernel/host.ts';
import type { WriteStep } from './history/writer.ts';
import type { SkillRegistryOptions } from './options.ts';

/** Functions of a host. What one throws is a problem (HOOK_FAILED), and what it was called for goes on without it. */
export interface HookOptions
  extends Pick<SkillRegistryOptions, 'getSecret' | 'onProgress' | 'onSkillLoaded' | 'onProblem'> {
  /** Told of each step of a change to a skill: a process may die at any of them, and the next one goes on from there. */
  readonly onWriteStep?: (step: WriteStep) => void;
}

/** The same functions, to be called without care. */
export interface Hooks extends Required<HookOptions> {
  /** For what is handed in later: listeners. */
  readonly call: CallHook;
  /** HOOK_FAILED. */
  problems(): readonly Problem[];
}

/**
 * @param file - Named in problems.
 * @param onFailure - Told when there is a new problem, unless it is that nobody can be told.
 */
export function createHooks(options: HookOptions, file: string, onFailure: () => void): Hooks {
  const problems: Problem[] = [];
  const call = createHookCaller(file, (problem) => {
    problems.push(problem);
    if (problem.details?.hook !== 'onProblem') onFailure();
  });
  return {
    call,
    problems: () => problems,
    getSecret: (name) => call('getSecret', () => textOrNothing(options.getSecret?.(name))),
    onProblem: (problem) => void call('onProblem', () => options.onProblem?.(problem)),
    onProgress: (line) => void call('onProgress', () => options.onProgress?.(line)),
    onSkillLoaded: (event) => void call('onSkillLoaded', () => options.onSkillLoaded?.(event)),
    onWriteStep: (step) => void call('onWriteStep', () => options.onWriteStep?.(step)),
  };
}

// --- internal ---

function textOrNothing(given: unknown): string | undefined {
  if (given === undefined || typeof given === 'string') return given;
  // A promise: that it may fail is not the point.
  Promise.resolve(given).catch(() => undefined);
  throw new TypeError(
    `it gave ${given === null ? 'null' : `something of type ${typeof given}`}, expected text or undefined`,
  );
}
