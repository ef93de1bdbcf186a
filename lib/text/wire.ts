type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

/** An object with the names of its fields in snake_case. */
export type Wire<T> = { readonly [Key in keyof T as Key extends string ? SnakeCase<Key> : Key]: T[Key] };

/**
 * An object of the library as tools, `--json` and events show it: `skillId` becomes `skill_id`. Only the names of its own fields
 * change; nested objects are left alone, because they may hold names that an author has chosen.
 */
export function toWire<T extends object>(object: T): Wire<T> {
  const named = Object.entries(object).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return Object.fromEntries(named) as Wire<T>;
}

/** As `toWire` for the objects in it, too: only for what has no names that an author has chosen. */
export function toWireDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWireDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(toWire(value)).map(([name, part]) => [name, toWireDeep(part)]));
}
