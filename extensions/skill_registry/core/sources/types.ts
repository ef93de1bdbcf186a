/** Public types of sources. */

/** Which skills each workflow state of a prompt pack may see. */
export interface PackScopes {
  /** The id in the pack's file. */
  readonly pack: string;
  /** The first state of the workflow; absent without a workflow. */
  readonly entry?: string | undefined;
  /** The `skills` expression of each state; undefined: all skills of the pack. */
  readonly states: ReadonlyMap<string, string | undefined>;
  /** By state: each event, and the state it leads to. */
  readonly events: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export interface CustomSkill {
  /** Must not contain `/`, backslash, colon or backtick. */
  readonly id: string;
  /** For display. Default: the id. */
  readonly name?: string | undefined;
  readonly description: string;
  readonly body: string;
  /** Other frontmatter fields of its SKILL.md: `{ tags: ['tea'] }`. */
  readonly frontmatter?: Readonly<Record<string, unknown>> | undefined;
  /** Its other files by relative path, `/` between segments. */
  readonly files?: Readonly<Record<string, string | Uint8Array>> | undefined;
}

/** Skills from anywhere: a database, a service, a program. Made by `defineSource`. */
export interface CustomSource {
  /** Letters, digits and `@ . _ / -`; the first part of qualified ids. Gets a number when it is in use. */
  readonly id: string;
  /** The function is called at every refresh, and has 10 seconds. */
  readonly skills: readonly CustomSkill[] | (() => readonly CustomSkill[] | Promise<readonly CustomSkill[]>);
  /** Receives a function to call when the skills have changed; the registry then refreshes. @returns unsubscribes. */
  readonly onChange?: ((changed: () => void) => () => void) | undefined;
}
