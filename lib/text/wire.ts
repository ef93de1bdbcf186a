type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

export type Wire<T> = { readonly [Key in keyof T as Key extends string ? SnakeCase<Key> : Key]: T[Key] };

/** `skillId` becomes `skill_id`. Nested objects stay as they are: their names may be an author's. */
export function toWire<T extends object>(object: T): Wire<T> {
  const named = Object.entries(object).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return Object.fromEntries(named) as Wire<T>;
}

/** With nested objects: only for values without names that an author has chosen. */
export function toWireDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWireDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(toWire(value)).map(([name, part]) => [name, toWireDeep(part)]));
}
