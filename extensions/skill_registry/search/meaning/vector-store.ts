import { createHash } from 'node:crypto';
import { getLoadablePath } from 'sqlite-vec';
import type { SqliteDatabase } from '../../store/open-database.ts';
import { signsOf } from './vector-signs.ts';

/** How near skills come by chance: `noise` in the middle to a text that none is for, `least` hardly ever. */
export interface Calibration {
  readonly noise: number;
  readonly least: number;
}

/** The vectors of one model in the cache's database. Several processes may add to them at once. */
export interface VectorStore {
  /** Numbers of a vector; undefined until there is one. */
  dimensions(): number | undefined;
  /** Its number, when there is a vector of it; numbers are never used twice. */
  numberOf(key: string): number | undefined;
  /** How often vectors have come that this process knows of. */
  version(): number;
  /** Looks for what other processes have added. */
  catchUp(): void;
  /** Forgets what is known, and looks anew: rows may have been removed. */
  reload(): void;
  /** Vectors of length 1, all of one size, in one transaction. */
  add(vectors: readonly { readonly key: string; readonly vector: Float32Array }[], now: number): void;
  /** Calls back with each number and its signs. */
  eachSigns(row: (number: number, signs: Uint32Array) => void): void;
  vectorOf(key: string): Float32Array | undefined;
  /** Cosines, by number, of those that are still there. */
  cosines(vector: Float32Array, numbers: readonly number[]): ReadonlyMap<number, number>;
  /** Undefined until all texts of a catalog were embedded once. */
  calibration(): Calibration | undefined;
  calibrate(calibration: Calibration): void;
  /** Removes models that were not used for a month, and contents that are gone when they are most of what is there. */
  tidy(live: ReadonlySet<string>, now: number): void;
}

/**
 * @param endpoint - Together with the model it says which vectors are comparable.
 * @throws when sqlite-vec cannot be loaded here, and what `sqliteFailure` tells apart.
 */
export function createVectorStore(
  database: SqliteDatabase,
  { baseUrl, model: modelName }: { readonly baseUrl: string; readonly model: string },
): VectorStore {
  database.loadExtension(getLoadablePath());
  // Not as it is: an address may hold a secret.
  const model = createHash('sha256').update(`${baseUrl}\n${modelName}`).digest('hex');
  const numbers = new Map<string, number>();
  let [last, version] = [0, 0];
  const state = database.prepare<{ dimensions: number; noise: number | null; least: number | null }>(
    'SELECT dimensions, noise, least FROM vector_model WHERE model = ?',
  );
  // By number, not by the index on model and key.
  const newer = database.prepare<{ number: number; key: string }>(
    'SELECT number, key FROM vector_sign WHERE number > ? AND +model = ? ORDER BY number',
  );
  const allSigns = database.prepare<{ number: number; signs: Uint8Array }>(
    'SELECT number, signs FROM vector_sign WHERE +model = ?',
  );
  const exact = database.prepare<{ vector: Uint8Array }>('SELECT vector FROM vector_exact WHERE number = ?');
  const cosinesOf = database.prepare<{ number: number; cosine: number }>(
    `SELECT number, 1 - vec_distance_cosine(vector, ?) AS cosine FROM json_each(?) AS wanted
     JOIN vector_exact ON vector_exact.number = wanted.value`,
  );
  const use = database.prepare(
    `INSERT INTO vector_model (model, dimensions, used) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET used = excluded.used`,
  );
  const addSigns = database.prepare('INSERT OR IGNORE INTO vector_sign (model, key, signs) VALUES (?, ?, ?)');
  const addExact = database.prepare('INSERT INTO vector_exact (number, vector) VALUES (?, ?)');
  const remove = database.prepare('DELETE FROM vector_sign WHERE number = ?');

  const catchUp = (): void => {
    for (const { number, key } of newer.iterate(last, model)) {
      numbers.set(key, number);
      last = number;
      version++;
    }
  };
  const clean = (live: ReadonlySet<string>, now: number): void => {
    database.prepare('UPDATE vector_model SET used = ? WHERE model = ?').run(now, model);
    database.prepare('DELETE FROM vector_model WHERE used < ?').run(now - MONTH_MS);
    if (numbers.size < live.size * STALE_TIMES || numbers.size < live.size + STALE_LEAST) return;
    for (const [key, number] of numbers) if (!live.has(key)) remove.run(number);
  };
  const reload = (): void => {
    numbers.clear();
    last = 0;
    version++;
    catchUp();
  };

  catchUp();
  return {
    dimensions: () => state.get(model)?.dimensions,
    numberOf: (key) => numbers.get(key),
    version: () => version,
    catchUp,
    reload,
    add(vectors, now) {
      database.transaction(() => {
        use.run(model, vectors[0]?.vector.length ?? 0, now);
        for (const { key, vector } of vectors) {
          const { changes, lastInsertRowid } = addSigns.run(model, key, bytesOf(signsOf(vector)));
          if (changes > 0) addExact.run(lastInsertRowid, bytesOf(vector));
        }
      });
      catchUp();
    },
    eachSigns(row) {
      for (const { number, signs } of allSigns.iterate(model))
        row(number, new Uint32Array(Uint8Array.from(signs).buffer));
    },
    vectorOf(key) {
      const number = numbers.get(key);
      const row = number === undefined ? undefined : exact.get(number);
      return row && new Float32Array(Uint8Array.from(row.vector).buffer);
    },
    cosines(vector, wanted) {
      const rows = cosinesOf.all(bytesOf(vector), JSON.stringify(wanted));
      return new Map(rows.map(({ number, cosine }) => [number, cosine]));
    },
    calibration() {
      const { noise = null, least = null } = state.get(model) ?? {};
      return noise === null || least === null ? undefined : { noise, least };
    },
    calibrate({ noise, least }) {
      database.prepare('UPDATE vector_model SET noise = ?, least = ? WHERE model = ?').run(noise, least, model);
    },
    tidy(live, now) {
      database.transaction(() => clean(live, now));
      reload();
    },
  };
}

// --- internal ---

const MONTH_MS = 30 * 24 * 3_600_000;
/** Contents that are gone are removed when there are so many times what is needed, and so many more. */
const STALE_TIMES = 4;
const STALE_LEAST = 2000;

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array | Float32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
