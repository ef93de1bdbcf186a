/**
 * A parameter, or what a column holds. A number is bound as a floating point number. A blob that was read is a Buffer or not.
 * Of a text that holds a NUL character, Node 22 and early versions of 24 give back only what stands before it.
 */
export type SqliteValue = string | number | bigint | null | Uint8Array;

export interface SqliteStatement<Row> {
  /** `lastInsertRowid` means something after an INSERT that has added a row. */
  run(...values: readonly SqliteValue[]): { readonly changes: number; readonly lastInsertRowid: number };
  get(...values: readonly SqliteValue[]): Row | undefined;
  all(...values: readonly SqliteValue[]): Row[];
  /** One row after the other. Until the last one, or a `break`, nothing else is done with the database. */
  iterate(...values: readonly SqliteValue[]): IterableIterator<Row>;
}

/** An open SQLite database. Every function throws what `sqliteFailure` tells apart. */
export interface SqliteDatabase {
  /** Whether it is in no file. */
  readonly memory: boolean;
  /** Runs statements that give no rows. */
  exec(sql: string): void;
  /** One statement, with `?` for each value, which are all given; a statement that gives no rows is only `run`. */
  prepare<Row = unknown>(sql: string): SqliteStatement<Row>;
  /**
   * Runs `work`, which is synchronous, in a transaction of its own: what it throws undoes it. There is none inside another.
   *
   * @param kind - `immediate`: the only writer from the beginning; `deferred`: one state of the file for what is read. Default:
   *   immediate.
   */
  transaction<T>(work: () => T, kind?: 'immediate' | 'deferred'): T;
  /** @param file - Absolute. */
  loadExtension(file: string): void;
  /** Its statements are of no more use. A second call does nothing. */
  close(): void;
}
