import type { Problem } from 'skill-registry/kernel';
import { type CallHook, createHookCaller } from '../../kernel/host.ts';
import type { WriteStep } from './history/writer.ts';
import type { SkillRegistryOptions } from './options.ts';

/** Functions of a host. If one throws, that becomes a problem (HOOK_FAILED), and the operation that called it continues. */
export interface HookOptions
  extends Pick<SkillRegistryOptions, 'getSecret' | 'onProgress' | 'onSkillLoaded' | 'onProblem'> {
  /** Called at each step of a change to a skill. A process may end at any of them, and the next process recovers the change. */
  readonly onWriteStep?: (step: WriteStep) => void;
}

/** The same functions; calling one never throws. Those that only tell the host something are absent when the host gave none. */
export interface Hooks extends Required<Pick<HookOptions, 'getSecret' | 'onProgress'>> {
  readonly onProblem: HookOptions['onProblem'] | undefined;
  readonly onSkillLoaded: HookOptions['onSkillLoaded'] | undefined;
  readonly onWriteStep: HookOptions['onWriteStep'] | undefined;
  /** Calls a function that the host passes in later, such as a listener. */
  readonly call: CallHook;
  /** HOOK_FAILED. */
  problems(): readonly Problem[];
}

/**
 * @param file - The file that problems name.
 * @param onFailure - Called when there is a new problem, unless `onProblem` itself failed.
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
    onProgress: (line) => void call('onProgress', () => options.onProgress?.(line)),
    onProblem: options.onProblem && ((problem) => void call('onProblem', () => options.onProblem?.(problem))),
    onSkillLoaded:
      options.onSkillLoaded && ((event) => void call('onSkillLoaded', () => options.onSkillLoaded?.(event))),
    onWriteStep: options.onWriteStep && ((step) => void call('onWriteStep', () => options.onWriteStep?.(step))),
  };
}

// --- internal ---

function textOrNothing(given: unknown): string | undefined {
  if (given === undefined || typeof given === 'string') return given;
  // It may be a promise. Its rejection must not end the process.
  Promise.resolve(given).catch(() => undefined);
  throw new TypeError(
    `it gave ${given === null ? 'null' : `something of type ${typeof given}`}, expected text or undefined`,
  );
}
