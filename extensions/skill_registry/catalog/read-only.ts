/**
 * Freezes a value and all that is in it. What is frozen already is not looked into, so what has not changed costs nothing.
 *
 * @param value - Ours: plain objects, arrays, and read-only maps.
 */
export function frozen<T extends object>(value: T): T {
  if (Object.isFrozen(value)) return value;
  Object.freeze(value);
  // No list of the parts is made: there may be tens of thousands of values.
  for (const key in value) {
    const part = value[key];
    if (typeof part === 'object' && part !== null) frozen(part);
  }
  return value;
}

/** A map that cannot be written to, over one that is not copied. */
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
