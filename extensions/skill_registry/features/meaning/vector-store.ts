import { createHash } from 'node:crypto';
import { getLoadablePath } from 'sqlite-vec';
import type { SqliteDatabase } from '../../core/store/open-database.ts';

/** How near the nearest skill comes to a text that no skill is for. Cosines, -1 to 1. */
export interface Calibration {
  readonly unrelated: number;
  /** A skill that is nearer to a query than this is related to it. */
  readonly threshold: number;
}

const MAX_NEAREST = 100;
/** The cosine is computed for those with the most signs in common. */
const COMPARED = 400;
const MONTH_MS = 30 * 24 * 3_600_000;
/** Unused vectors are removed when there are this many times as many vectors as needed, and this many more. */
const STALE_TIMES = 4;
const STALE_MORE = 2000;

/** The vectors of one model. Several processes may add to them at once. */
export class VectorStore {
  readonly #database: SqliteDatabase;
  readonly #model: string;
  readonly #statements: Statements;

  /** @throws when sqlite-vec cannot be loaded, and errors that `sqliteFailure` classifies. */
  constructor(database: SqliteDatabase, endpoint: { readonly baseUrl: string; readonly model: string }) {
    database.loadExtension(getLoadablePath());
    this.#database = database;
    // Only a digest is stored: an address may contain a secret.
    this.#model = createHash('sha256').update(`${endpoint.baseUrl}\n${endpoint.model}`).digest('hex');
    this.#statements = prepareStatements(database);
  }

  dimensions(): number | undefined {
    return this.#statements.model.get(this.#model)?.dimensions;
  }

  known(keys: readonly string[]): ReadonlySet<string> {
    return new Set(this.#statements.known.all(JSON.stringify(keys), this.#model).map(({ key }) => key));
  }

  /** Vectors of length 1 and equal size, in one transaction. */
  add(vectors: readonly { readonly key: string; readonly vector: Float32Array }[], now: number): void {
    const { use, addNumbers, addText } = this.#statements;
    this.#database.transaction(() => {
      use.run(this.#model, vectors[0]?.vector.length ?? 0, now);
      for (const { key, vector } of vectors) {
        const bytes = bytesOf(vector);
        addNumbers.run(bytes, this.#model, key);
        addText.run(key, bytes, this.#model);
      }
    });
  }

  vectorOf(key: string): Float32Array | undefined {
    const row = this.#statements.vector.get(this.#model, key);
    return row && new Float32Array(Uint8Array.from(row.numbers).buffer);
  }

  /** Positions in `keys`, the nearest first, without keys that have no vector. 20 ms for 10,000 vectors of 1,536. */
  nearest(
    keys: readonly string[],
    vector: Float32Array,
  ): readonly { readonly position: number; readonly cosine: number }[] {
    const bytes = bytesOf(vector);
    return this.#statements.nearest.all(JSON.stringify(keys), this.#model, bytes, COMPARED, bytes, MAX_NEAREST);
  }

  /** Undefined until the whole catalog was embedded once. */
  calibration(): Calibration | undefined {
    const { unrelated = null, threshold = null } = this.#statements.model.get(this.#model) ?? {};
    return unrelated === null || threshold === null ? undefined : { unrelated, threshold };
  }

  calibrate({ unrelated, threshold }: Calibration): void {
    this.#database
      .prepare('UPDATE vector_model SET unrelated = ?, threshold = ? WHERE model = ?')
      .run(unrelated, threshold, this.#model);
  }

  tidy(keys: readonly string[], now: number): void {
    this.#database.transaction(() => {
      this.#database.prepare('UPDATE vector_model SET used = ? WHERE model = ?').run(now, this.#model);
      this.#database.prepare('DELETE FROM vector_model WHERE used < ?').run(now - MONTH_MS);
      const { count = 0 } = this.#statements.count.get(this.#model) ?? {};
      if (count < keys.length * STALE_TIMES || count < keys.length + STALE_MORE) return;
      this.#statements.keepOnly.run(this.#model, JSON.stringify(keys));
    });
  }
}

// --- internal ---

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(database: SqliteDatabase) {
  return {
    model: database.prepare<{ dimensions: number; unrelated: number | null; threshold: number | null }>(
      'SELECT dimensions, unrelated, threshold FROM vector_model WHERE model = ?',
    ),
    known: database.prepare<{ key: string }>(
      `SELECT vector_text.key FROM json_each(?) AS wanted CROSS JOIN vector_text
       ON vector_text.model = (SELECT id FROM vector_model WHERE model = ?) AND vector_text.key = wanted.value`,
    ),
    vector: database.prepare<{ numbers: Uint8Array }>(
      `SELECT numbers FROM vector_model JOIN vector_text ON vector_text.model = vector_model.id
       JOIN vector_numbers ON vector_numbers.id = vector WHERE vector_model.model = ? AND key = ?`,
    ),
    nearest: database.prepare<{ position: number; cosine: number }>(
      `WITH compared AS MATERIALIZED (
         SELECT wanted.key AS position, vector FROM json_each(?) AS wanted CROSS JOIN vector_text
         ON vector_text.model = (SELECT id FROM vector_model WHERE model = ?) AND vector_text.key = wanted.value
         ORDER BY vec_distance_hamming(vec_bit(signs), vec_quantize_binary(?)), position LIMIT ?)
       SELECT position, 1 - vec_distance_cosine(numbers, ?) AS cosine FROM compared
       JOIN vector_numbers ON vector_numbers.id = vector ORDER BY cosine DESC, position LIMIT ?`,
    ),
    use: database.prepare(
      `INSERT INTO vector_model (model, dimensions, used) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET used = excluded.used`,
    ),
    addNumbers: database.prepare(
      `INSERT INTO vector_numbers (numbers) SELECT ?
       WHERE NOT EXISTS (SELECT 1 FROM vector_text WHERE model = (SELECT id FROM vector_model WHERE model = ?) AND key = ?)`,
    ),
    // Ignored when another process has added the text; then no numbers were added either.
    addText: database.prepare(
      `INSERT OR IGNORE INTO vector_text (model, key, vector, signs)
       SELECT id, ?, last_insert_rowid(), vec_quantize_binary(?) FROM vector_model WHERE model = ?`,
    ),
    count: database.prepare<{ count: number }>(
      'SELECT count(*) AS count FROM vector_text WHERE model = (SELECT id FROM vector_model WHERE model = ?)',
    ),
    keepOnly: database.prepare(
      `DELETE FROM vector_text WHERE model = (SELECT id FROM vector_model WHERE model = ?)
       AND key NOT IN (SELECT value FROM json_each(?))`,
    ),
  };
}

/** Padded with zeros, because a byte holds the signs of eight numbers; that changes no cosine. */
function bytesOf(vector: Float32Array): Buffer {
  const padded = new Float32Array(Math.ceil(vector.length / 8) * 8);
  padded.set(vector);
  return Buffer.from(padded.buffer);
}
