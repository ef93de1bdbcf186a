/** How a registry is opened. No code. */
import type { Problem } from 'skill-registry/kernel';
import type { SkillRegistryConfigInput } from './config/config.ts';
import type { SkillLoadedEvent } from './read/types.ts';

/** What a function given here throws becomes a problem (HOOK_FAILED), and the operation that called it continues. */
export interface SkillRegistryOptions {
  /** Relative source paths start here. Default: the current directory. */
  readonly root?: string;
  /** Every key has a default (docs/configuration.md). The kernel and the command read config.yaml; the library does not. */
  readonly config?: SkillRegistryConfigInput;
  /**
   * Where the cache is kept. `disk`: in `<root>/data/skill_registry/cache.db`, or in the user's cache directory where `root` has no
   * `data` or is not trusted, so that the next process starts faster. Default: `disk`.
   */
  readonly cache?: 'disk' | 'memory';
  /**
   * Whether the caller trusts what lies in `root`. With true its `cache.db` is read, and an unfinished change is undone or finished.
   * With false neither happens. Default: true.
   */
  readonly trust?: boolean;
  /** Gives EMBEDDINGS_API_KEY, or MODEL_API_KEY with MODEL_BASE_URL when that is the endpoint. Default: there is no key. */
  readonly getSecret?: (name: string) => string | undefined;
  /**
   * False: nothing is inspected while the catalog is loaded, so that skills which nobody has inspected yet are kept from agents; for a
   * program that serves none. Default: true, for 5 seconds at most; `watch` and `refresh` inspect what is left.
   */
  readonly inspect?: boolean;
  /** Called with the progress of embedding, when that takes more than a second. */
  readonly onProgress?: (line: string) => void;
  /** Called for every load of a skill or one of its files. */
  readonly onSkillLoaded?: (event: SkillLoadedEvent) => void;
  /** Called once for each problem that did not exist when the registry was opened. */
  readonly onProblem?: (problem: Problem) => void;
}
