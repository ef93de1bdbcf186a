import { onTestFinished } from 'vitest';
import { openSqlite, type SqliteDatabase, sqliteFailure } from '../../../lib/sqlite/index.ts';

/** Closed when the test has finished. */
export function open(file = ':memory:', busyMs?: number): SqliteDatabase {
  const database = openSqlite(file, busyMs);
  onTestFinished(() => database.close());
  return database;
}

/** With a table of three names. */
export function people(file?: string): SqliteDatabase {
  const database = open(file);
  database.exec(
    "CREATE TABLE person (name TEXT PRIMARY KEY, age INTEGER); INSERT INTO person VALUES ('a', 1), ('b', 2)",
  );
  database.prepare('INSERT INTO person VALUES (?, ?)').run('c', null);
  return database;
}

export const names = (database: SqliteDatabase): readonly string[] =>
  database
    .prepare<{ name: string }>('SELECT name FROM person ORDER BY name')
    .all()
    .map(({ name }) => name);

/** What the work throws, as `sqliteFailure` calls it. */
export function failureOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return sqliteFailure(error) ?? error;
  }
  return 'nothing was thrown';
}
