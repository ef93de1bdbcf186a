/** What a transaction does, for both engines: a value stands for each `?`. */

export type Value = string | number | null | Uint8Array;
export type Row = Readonly<Record<string, Value>>;

/** `reads`: it gives rows. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
  readonly reads: boolean;
}

/** Each step gives a statement and is given the answer, at once by SQLite, later by PostgreSQL. */
export type Steps<T> = Generator<Statement, T, { readonly rows: readonly unknown[]; readonly count: number }>;

export function* rows<T>(sql: string, ...values: readonly Value[]): Steps<readonly T[]> {
  return (yield { sql, values, reads: true }).rows as readonly T[];
}

/** @returns how many rows have changed. */
export function* run(sql: string, ...values: readonly Value[]): Steps<number> {
  return (yield { sql, values, reads: false }).count;
}

export function insert(table: string, row: Row, otherwise = ''): Steps<number> {
  const names = Object.keys(row);
  const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) ${otherwise}`;
  return run(sql, ...Object.values(row));
}

export function insertOrReplace(table: string, key: readonly string[], row: Row): Steps<number> {
  const sets = Object.keys(row).map((name) => `${name} = excluded.${name}`);
  return insert(table, row, `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${sets.join(', ')}`);
}
