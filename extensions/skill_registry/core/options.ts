import type { Problem } from 'skill-registry/kernel';
import type { SkillRegistryConfigInput } from './config/config.ts';
import type { SkillLoadedEvent } from './read/types.ts';

/** If a given function throws, this becomes a problem (HOOK_FAILED), and the operation continues. */
export interface SkillRegistryOptions {
  /** Relative source paths start here. Default: the current directory. */
  readonly root?: string;
  /** Every key has a default (docs/configuration.md). The library reads no config.yaml; the kernel and commands do. */
  readonly config?: SkillRegistryConfigInput;
  /** `disk`: below `<root>/data`, or in the user's cache directory without a trusted `data`. Default: `disk`. */
  readonly cache?: 'disk' | 'memory';
  /** Whether to trust the content of `root`: read its `cache.db`, finish or undo unfinished changes. Default: true. */
  readonly trust?: boolean;
  /**
   * Without `sources` in `config`: true also takes the skill folders of agents (presets) in the home directory, false
   * takes no presets. Default: those of the project, where the root has no config file.
   */
  readonly presets?: boolean;
  /** For EMBEDDINGS_API_KEY, or MODEL_API_KEY when MODEL_BASE_URL is the endpoint. Default: no key. */
  readonly getSecret?: (name: string) => string | undefined;
  /**
   * False: loading inspects nothing, and agents get no skill that is not inspected; for a program without agents.
   * Default: true, for at most 5 seconds; `watch` and `refresh` do the rest.
   */
  readonly inspect?: boolean;
  /** True: the registry opens although no feature of it is a guard; everything is given uninspected. Default: false. */
  readonly noGuard?: boolean;
  /** Called with the progress of embedding that takes more than a second. */
  readonly onProgress?: (line: string) => void;
  /** Called for every load of a skill or one of its files. */
  readonly onSkillLoaded?: (event: SkillLoadedEvent) => void;
  /** Called once for each problem that appears after opening. */
  readonly onProblem?: (problem: Problem) => void;
}

/** Set by tests, the command and the extension. `manifest`: the config was merged with it. */
export interface InternalOptions extends SkillRegistryOptions {
  /** As of `createCheckedCalls`. Default: true. */
  readonly checksArguments?: boolean;
  /** As of `SourceDefaults`: the config is a file that may change with a `git pull`. Default: false. */
  readonly asksForSecrets?: boolean;
  /** For gates. Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly manifest?: string;
  /** Called at each step of a change. A process may end at any step; the next one recovers the change. */
  onWriteStep?(step: string): void;
}
