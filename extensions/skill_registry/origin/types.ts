/** Public types of where skills come from and go to. No code. */
import type { Published, PublishOptions } from './publish/types.ts';

export type * from './publish/types.ts';

/** Where skills come from and go to. */
export interface Origins {
  /**
   * Makes a folder that any web server can serve as a page with skills (`/.well-known/agent-skills/index.json`, version 0.2.0). The
   * same skills give the same bytes. A server may be serving the folder meanwhile: it serves all of the old or all of the new.
   *
   * Files that `readResource` does not hand out are left out. A draft, and a skill with a finding of the level `block`, is refused, also
   * when somebody allowed it here.
   *
   * @throws PUBLISH_REFUSED when a named skill is refused, or no skill is left; SKILL_NOT_FOUND; INVALID_ARGUMENT for a folder that is
   *   in a source, or is neither empty nor made by this; WRITE_FAILED.
   */
  publish(options: PublishOptions): Promise<Published>;
}
