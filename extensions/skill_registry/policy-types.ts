/** What may be done with a path in a source. No code. */

/** What the owner allows to do with a path that lies in a source. */
export interface WritePolicy {
  readonly action: 'create' | 'update' | 'delete';
  readonly policy: 'allow' | 'propose' | 'deny';
  readonly source: string;
  /** Why it is `deny` whatever `writes` says. */
  readonly reason?: string;
  /** What a proposal would be about; absent when none can be made for this path. */
  readonly target?: { readonly kind: 'create' | 'update'; readonly skillId: string; readonly path: string } | undefined;
}

/** The skill a path belongs to, as an agent sees it in a turn. */
export interface ReadPolicy {
  /** To ask for it with. */
  readonly skillId: string;
  /** Below the skill: `SKILL.md`, `references/guide.md`; empty for its folder. */
  readonly path: string;
  /** False: out of scope, hidden or gated. It is to be answered like what is not there. */
  readonly visible: boolean;
}
