/** What callers see of sources. No code. */

/** What the states of a prompt pack's workflow may see. */
export interface PackScopes {
  /** The pack's own id. */
  readonly pack: string;
  /** The state a workflow begins in; absent without a workflow. */
  readonly entry?: string | undefined;
  /** The `skills` expression of each state; undefined: all skills of the pack. */
  readonly states: ReadonlyMap<string, string | undefined>;
}

/** A skill that a program makes itself. */
export interface OwnSkill {
  /** The name agents and people use, without `/`, backslash, colon and backtick. */
  readonly id: string;
  /** For people. Default: the id. */
  readonly name?: string | undefined;
  readonly description: string;
  /** The instructions. */
  readonly body: string;
  /** Further fields, as they would stand in the frontmatter of its SKILL.md: `{ tags: ['tea'] }`. */
  readonly frontmatter?: Readonly<Record<string, unknown>> | undefined;
  /** Its other files by relative path, `/` between segments. */
  readonly files?: Readonly<Record<string, string | Uint8Array>> | undefined;
}

/** Skills from anywhere: a database, a service, a program. `defineSource` makes one. */
export interface OwnSource {
  /** Letters, digits and `@ . _ / -`; the first half of qualified ids. Numbered when it is taken. */
  readonly id: string;
  /** All of them; a function is asked at every refresh, and has ten seconds. */
  readonly skills: readonly OwnSkill[] | (() => readonly OwnSkill[] | Promise<readonly OwnSkill[]>);
  /** Is handed a function to call when the skills have changed; the registry then asks for them. @returns unsubscribes. */
  readonly onChange?: ((changed: () => void) => () => void) | undefined;
}
