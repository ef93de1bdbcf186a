import { statSync } from 'node:fs';
import type { Problem } from 'skill-registry/kernel';
import { type CallHook, createHookCaller } from '../../kernel/host.ts';
import {
  type ArgumentCheck,
  aFunction,
  anything,
  bool,
  checkCall,
  oneOf,
  onlyFields,
  optional,
  refine,
  text,
} from '../../lib/arguments/index.ts';
import type { SkillRegistryConfig } from './config/config.ts';
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

/** What `createSkillRegistry` is called with. @throws INVALID_ARGUMENT, also for an option that does not exist. */
export function checkOptions(options: unknown): void {
  checkCall('createSkillRegistry', { options: optional(onlyFields(OPTIONS, IN_CONFIG, INTERNAL)) }, [options]);
}

// --- internal ---

function isFolder(path: string): boolean {
  try {
    return path !== '' && statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Skills that are looked for in a folder which is not there would all be missing, without a word about it. */
const root = refine(text, 'a folder that exists (a relative path begins at the current folder)', isFolder);

/** `environment` and `manifest`: as `InternalOptions`. */
type OptionName = keyof SkillRegistryOptions | keyof HookOptions | 'environment' | 'manifest';
const OPTIONS: Record<OptionName, ArgumentCheck> = {
  root: optional(root),
  config: anything,
  cache: optional(oneOf('disk', 'memory')),
  trust: optional(bool),
  getSecret: optional(aFunction),
  inspect: optional(bool),
  onProgress: optional(aFunction),
  onSkillLoaded: optional(aFunction),
  onProblem: optional(aFunction),
  environment: anything,
  manifest: anything,
  onWriteStep: anything,
};
const INTERNAL: readonly OptionName[] = ['environment', 'manifest', 'onWriteStep'];

/** People give keys of the config beside it. */
const CONFIG_KEYS: Record<keyof SkillRegistryConfig, true> = {
  sources: true,
  disabled: true,
  collision: true,
  validation: true,
  inject: true,
  catalog: true,
  watch: true,
  writes: true,
  limits: true,
  tools: true,
  embeddings: true,
  gates: true,
  usage: true,
};
const IN_CONFIG = {
  ...Object.fromEntries(
    Object.keys(CONFIG_KEYS).map((key) => [key, `It is a key of config: { config: { ${key}: ... } }.`]),
  ),
  skills: 'A folder of skills is a source: { config: { sources: [{ path: "skills" }] } }.',
};

function textOrNothing(given: unknown): string | undefined {
  if (given === undefined || typeof given === 'string') return given;
  // It may be a promise. Its rejection must not end the process.
  Promise.resolve(given).catch(() => undefined);
  throw new TypeError(
    `it gave ${given === null ? 'null' : `something of type ${typeof given}`}, expected text or undefined`,
  );
}
