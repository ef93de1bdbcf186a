/** A text of SKILL.md, or the texts of files by path. */
export type Sample = string | Readonly<Record<string, string>>;

/** By rule id: texts in which it must be found, and in which it must not. */
export type RuleSamples = Readonly<
  Record<string, { readonly hits: readonly Sample[]; readonly misses: readonly Sample[] }>
>;
