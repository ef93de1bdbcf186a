/** Public types of sources. No code. */

/** Which skills the workflow states of a prompt pack may see. */
export interface PackScopes {
  /** Id of the pack, as its file says. */
  readonly pack: string;
  /** The first state of the workflow; absent without a workflow. */
  readonly entry?: string | undefined;
  /** The `skills` expression of each state; undefined: all skills of the pack. */
  readonly states: ReadonlyMap<string, string | undefined>;
  /** The events that lead out of each state, and the state each leads to. */
  readonly events: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** A skill that a program makes. */
export interface CustomSkill {
  /** The name that agents and people use, without `/`, backslash, colon and backtick. */
  readonly id: string;
  /** Shown to people. Default: the id. */
  readonly name?: string | undefined;
  readonly description: string;
  /** The instructions. */
  readonly body: string;
  /** Other fields of the frontmatter of its SKILL.md: `{ tags: ['tea'] }`. */
  readonly frontmatter?: Readonly<Record<string, unknown>> | undefined;
  /** Its other files by relative path, `/` between segments. */
  readonly files?: Readonly<Record<string, string | Uint8Array>> | undefined;
}

/** Skills from anywhere: a database, a service, a program. `defineSource` makes one. */
export interface CustomSource {
  /** Letters, digits and `@ . _ / -`; the first half of qualified ids. Gets a number when it is in use. */
  readonly id: string;
  /** All skills, or a function that returns them. It is called at every refresh and has 10 seconds. */
  readonly skills: readonly CustomSkill[] | (() => readonly CustomSkill[] | Promise<readonly CustomSkill[]>);
  /** Receives a function to call when the skills have changed; the registry then refreshes. @returns unsubscribes. */
  readonly onChange?: ((changed: () => void) => () => void) | undefined;
}
