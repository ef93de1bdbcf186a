type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

/** An object with the names of its fields in snake_case. */
export type Wire<T> = { readonly [Key in keyof T as Key extends string ? SnakeCase<Key> : Key]: T[Key] };

/**
 * An object of the library as tools, `--json` and events have it: `skillId` becomes `skill_id`. Only the names of its own fields
 * change, in their order: what stands in them may be an author's, whose names are theirs.
 */
export function toWire<T extends object>(object: T): Wire<T> {
  const named = Object.entries(object).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return Object.fromEntries(named) as Wire<T>;
}
