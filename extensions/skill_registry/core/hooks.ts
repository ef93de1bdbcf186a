import type { Problem } from 'skill-registry/kernel';
import { type CallHook, createHookCaller } from '../../../kernel/host.ts';
import type { InternalOptions } from './options.ts';

type HookOptions = Pick<InternalOptions, 'getSecret' | 'onProgress'>;

/** Functions of the host. Calling them never throws. */
export interface Hooks extends Required<HookOptions> {
  /** For any other function: `onProblem`, a listener. */
  readonly call: CallHook;
  problems(): readonly Problem[];
}

/** @param file - For problems. @param onFailure - Called for a new problem, unless `onProblem` failed. */
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
  };
}

// --- internal ---

function textOrNothing(given: unknown): string | undefined {
  if (given === undefined || typeof given === 'string') return given;
  // It may be a promise, whose rejection must not end the process.
  Promise.resolve(given).catch(() => undefined);
  throw new TypeError(
    `it gave ${given === null ? 'null' : `something of type ${typeof given}`}, expected text or undefined`,
  );
}
