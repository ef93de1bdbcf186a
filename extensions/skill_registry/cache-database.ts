import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { openDatabase, type SqliteDatabase } from './open-database.ts';

/**
 * Opens `cache.db`: what can be made anew from the skills at any time (headers, the full-text index, vectors, token counts).
 *
 * A file that is damaged or was made for other tables is removed and made anew. Where none can be written the cache is in
 * memory: everything works, and the next process starts cold.
 *
 * @param file - Absolute, or `:memory:`.
 * @param schemas - `CREATE` statements of everybody who keeps something in it; together they are its version.
 */
export function openCacheDatabase(file: string, schemas: readonly string[]): SqliteDatabase {
  const version = versionOf(schemas);
  return (
    openAt(file, schemas, version) ??
    openAt(removed(file), schemas, version) ??
    (openAt(':memory:', schemas, version) as SqliteDatabase)
  );
}

// --- internal ---

/** Fits `user_version`, and is never 0, which a new file has. */
function versionOf(schemas: readonly string[]): number {
  return (createHash('sha256').update(schemas.join('\n')).digest().readUInt32BE() >>> 2) + 1;
}

/** Undefined for a file that cannot be used: no database, damaged, of another version, or where nobody may write. */
function openAt(file: string, schemas: readonly string[], version: number): SqliteDatabase | undefined {
  let database: SqliteDatabase | undefined;
  try {
    database = openDatabase(file);
    // It can be lost: a crash of the machine costs a rebuild.
    database.pragma('synchronous = OFF');
    const found = database.pragma('user_version', { simple: true });
    if (found !== 0 && found !== version) throw new Error('made for other tables');
    if (found === 0) create(database, schemas, version);
    return database;
  } catch {
    database?.close();
    return undefined;
  }
}

/** Several processes may find it empty at once. */
function create(database: SqliteDatabase, schemas: readonly string[], version: number): void {
  database
    .transaction(() => {
      if (database.pragma('user_version', { simple: true }) === version) return;
      for (const schema of schemas) database.exec(schema);
      database.pragma(`user_version = ${version}`);
    })
    .immediate();
}

function removed(file: string): string {
  for (const end of ['', '-wal', '-shm']) {
    try {
      rmSync(`${file}${end}`, { force: true });
    } catch {
      // Then it cannot be opened either, and the cache is in memory.
    }
  }
  return file;
}
