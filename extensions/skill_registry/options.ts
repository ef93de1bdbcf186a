/** How a registry is opened. No code. */
import type { Problem } from 'skill-registry/kernel';
import type { SkillRegistryConfigInput } from './config/config.ts';
import type { SkillLoadedEvent } from './read/types.ts';

/** What a function given here throws is a problem (HOOK_FAILED), and what it was called for goes on without it. */
export interface SkillRegistryOptions {
  /** Relative source paths start here. Default: the current directory. */
  readonly root?: string;
  /** Every key has a default (docs/configuration.md). The kernel and the command read config.yaml; the library does not. */
  readonly config?: SkillRegistryConfigInput;
  /**
   * Where what can be made anew is kept. `disk`: in `<root>/data/skill_registry/cache.db`, or in the user's cache directory
   * where `root` has no `data` or is not trusted, so that the next process starts warm. Default: `disk`.
   */
  readonly cache?: 'disk' | 'memory';
  /**
   * Whether what lies in `root` may act: its `cache.db` is read, and a change that a crash has left there is finished. Who opens a
   * registry on a root has decided that; `false` leaves it data. Default: true.
   */
  readonly trust?: boolean;
  /** Gives EMBEDDINGS_API_KEY, or MODEL_API_KEY with MODEL_BASE_URL when that is the endpoint. Default: there is no key. */
  readonly getSecret?: (name: string) => string | undefined;
  /** Told how far embedding has come, when it takes more than a second. */
  readonly onProgress?: (line: string) => void;
  /** Told of every load of a skill or a file of one. */
  readonly onSkillLoaded?: (event: SkillLoadedEvent) => void;
  /** Told once of each problem that was not there when the registry was opened. */
  readonly onProblem?: (problem: Problem) => void;
}
