import { createHash } from 'node:crypto';
import { getLoadablePath } from 'sqlite-vec';
import type { SqliteDatabase } from '../../store/open-database.ts';

/** How near skills come by chance: `noise` in the middle to a text that none is for, `least` hardly ever. */
export interface Calibration {
  readonly noise: number;
  readonly least: number;
}

const MONTH_MS = 30 * 24 * 3_600_000;
/** Contents that are gone are removed when there are so many times what is needed, and so many more. */
const STALE_TIMES = 4;
const STALE_LEAST = 2000;

/** The vectors of one model in the cache's database. Several processes may add to them at once. */
export class VectorStore {
  readonly #database: SqliteDatabase;
  readonly #model: string;
  readonly #statements: Statements;
  readonly #numbers = new Map<string, number>();
  #last = 0;
  #version = 0;

  /**
   * @param endpoint - Together with the model it says which vectors are comparable.
   * @throws when sqlite-vec cannot be loaded here, and what `sqliteFailure` tells apart.
   */
  constructor(database: SqliteDatabase, endpoint: { readonly baseUrl: string; readonly model: string }) {
    database.loadExtension(getLoadablePath());
    this.#database = database;
    // Not as it is: an address may hold a secret.
    this.#model = createHash('sha256').update(`${endpoint.baseUrl}\n${endpoint.model}`).digest('hex');
    this.#statements = prepareStatements(database);
    this.catchUp();
  }

  /** Numbers of a vector; undefined until there is one. */
  dimensions(): number | undefined {
    return this.#statements.state.get(this.#model)?.dimensions;
  }

  /** Its number, when there is a vector of it; numbers are never used twice. */
  numberOf(key: string): number | undefined {
    return this.#numbers.get(key);
  }

  /** How often vectors have come that this process knows of. */
  version(): number {
    return this.#version;
  }

  /** Looks for what other processes have added. */
  catchUp(): void {
    for (const { number, key } of this.#statements.newer.iterate(this.#last, this.#model)) {
      this.#numbers.set(key, number);
      this.#last = number;
      this.#version++;
    }
  }

  /** Forgets what is known, and looks anew: rows may have been removed. */
  reload(): void {
    this.#numbers.clear();
    this.#last = 0;
    this.#version++;
    this.catchUp();
  }

  /** Vectors of length 1, all of one size, in one transaction. */
  add(vectors: readonly { readonly key: string; readonly vector: Float32Array }[], now: number): void {
    const { use, addSigns, addExact } = this.#statements;
    this.#database.transaction(() => {
      use.run(this.#model, vectors[0]?.vector.length ?? 0, now);
      for (const { key, vector } of vectors) {
        const { changes, lastInsertRowid } = addSigns.run(this.#model, key, bytesOf(signsOf(vector)));
        if (changes > 0) addExact.run(lastInsertRowid, bytesOf(vector));
      }
    });
    this.catchUp();
  }

  /** Calls back with each number and its signs. */
  eachSigns(row: (number: number, signs: Uint32Array) => void): void {
    for (const { number, signs } of this.#statements.allSigns.iterate(this.#model))
      row(number, new Uint32Array(Uint8Array.from(signs).buffer));
  }

  vectorOf(key: string): Float32Array | undefined {
    const number = this.#numbers.get(key);
    const row = number === undefined ? undefined : this.#statements.exact.get(number);
    return row && new Float32Array(Uint8Array.from(row.vector).buffer);
  }

  /** Cosines, by number, of those that are still there. */
  cosines(vector: Float32Array, numbers: readonly number[]): ReadonlyMap<number, number> {
    const rows = this.#statements.cosines.all(bytesOf(vector), JSON.stringify(numbers));
    return new Map(rows.map(({ number, cosine }) => [number, cosine]));
  }

  /** Undefined until all texts of a catalog were embedded once. */
  calibration(): Calibration | undefined {
    const { noise = null, least = null } = this.#statements.state.get(this.#model) ?? {};
    return noise === null || least === null ? undefined : { noise, least };
  }

  calibrate({ noise, least }: Calibration): void {
    this.#database
      .prepare('UPDATE vector_model SET noise = ?, least = ? WHERE model = ?')
      .run(noise, least, this.#model);
  }

  /** Removes models that were not used for a month, and contents that are gone when they are most of what is there. */
  tidy(live: ReadonlySet<string>, now: number): void {
    this.#database.transaction(() => {
      this.#database.prepare('UPDATE vector_model SET used = ? WHERE model = ?').run(now, this.#model);
      this.#database.prepare('DELETE FROM vector_model WHERE used < ?').run(now - MONTH_MS);
      const { size } = this.#numbers;
      if (size < live.size * STALE_TIMES || size < live.size + STALE_LEAST) return;
      for (const [key, number] of this.#numbers) if (!live.has(key)) this.#statements.remove.run(number);
    });
    this.reload();
  }
}

/**
 * One bit a number: whether it is above the vector's mean. Vectors that point the same way agree in most of them, and comparing
 * bits takes a fiftieth of comparing numbers. The mean, not 0: some models give no negative numbers.
 *
 * @returns as many words of 32 bits as are needed.
 */
export function signsOf(vector: Float32Array): Uint32Array {
  let sum = 0;
  for (const one of vector) sum += one;
  const mean = sum / vector.length;
  const signs = new Uint32Array(signWords(vector.length));
  for (let at = 0; at < vector.length; at++) {
    if ((vector[at] as number) > mean) signs[at >>> 5] = (signs[at >>> 5] as number) | (1 << (at & 31));
  }
  return signs;
}

export function signWords(dimensions: number): number {
  return Math.ceil(dimensions / 32);
}

// --- internal ---

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(database: SqliteDatabase) {
  return {
    state: database.prepare<{ dimensions: number; noise: number | null; least: number | null }>(
      'SELECT dimensions, noise, least FROM vector_model WHERE model = ?',
    ),
    // By number, not by the index on model and key.
    newer: database.prepare<{ number: number; key: string }>(
      'SELECT number, key FROM vector_sign WHERE number > ? AND +model = ? ORDER BY number',
    ),
    allSigns: database.prepare<{ number: number; signs: Uint8Array }>(
      'SELECT number, signs FROM vector_sign WHERE +model = ?',
    ),
    exact: database.prepare<{ vector: Uint8Array }>('SELECT vector FROM vector_exact WHERE number = ?'),
    cosines: database.prepare<{ number: number; cosine: number }>(
      `SELECT number, 1 - vec_distance_cosine(vector, ?) AS cosine FROM json_each(?) AS wanted
       JOIN vector_exact ON vector_exact.number = wanted.value`,
    ),
    use: database.prepare(
      `INSERT INTO vector_model (model, dimensions, used) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET used = excluded.used`,
    ),
    addSigns: database.prepare('INSERT OR IGNORE INTO vector_sign (model, key, signs) VALUES (?, ?, ?)'),
    addExact: database.prepare('INSERT INTO vector_exact (number, vector) VALUES (?, ?)'),
    remove: database.prepare('DELETE FROM vector_sign WHERE number = ?'),
  };
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array | Float32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
