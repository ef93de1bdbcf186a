/**
 * Freezes a value and everything in it. A value that is frozen already is skipped, so unchanged parts cost nothing.
 *
 * @param value - Plain objects, arrays and read-only maps.
 */
export function frozen<T extends object>(value: T): T {
  if (Object.isFrozen(value)) return value;
  Object.freeze(value);
  // `for in` makes no array of keys: there may be tens of thousands of values.
  for (const key in value) {
    const part = value[key];
    if (typeof part === 'object' && part !== null) frozen(part);
  }
  return value;
}

/** A read-only view of a map, without a copy. */
export function readOnlyMap<Key, Value>(map: ReadonlyMap<Key, Value>): ReadonlyMap<Key, Value> {
  return map instanceof ReadOnlyMap ? map : new ReadOnlyMap(map);
}

// --- internal ---

class ReadOnlyMap<Key, Value> implements ReadonlyMap<Key, Value> {
  readonly #map: ReadonlyMap<Key, Value>;

  constructor(map: ReadonlyMap<Key, Value>) {
    this.#map = map;
    Object.freeze(this);
  }

  get size(): number {
    return this.#map.size;
  }

  get(key: Key): Value | undefined {
    return this.#map.get(key);
  }

  has(key: Key): boolean {
    return this.#map.has(key);
  }

  forEach(callback: (value: Value, key: Key, map: ReadonlyMap<Key, Value>) => void, self?: unknown): void {
    for (const [key, value] of this.#map) callback.call(self, value, key, this);
  }

  keys(): MapIterator<Key> {
    return this.#map.keys();
  }

  values(): MapIterator<Value> {
    return this.#map.values();
  }

  entries(): MapIterator<[Key, Value]> {
    return this.#map.entries();
  }

  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.#map.entries();
  }

  get [Symbol.toStringTag](): string {
    return 'Map';
  }

  /** `console.log` shows what is in it. */
  [Symbol.for('nodejs.util.inspect.custom')](): unknown {
    return new Map(this.#map);
  }
}
