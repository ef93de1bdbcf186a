/**
 * What an error of a database means, whichever engine has thrown it.
 *
 * - `busy`: somebody else holds the file, or a table of it. The same may work later.
 * - `damaged`: what was read is no sound database.
 * - `full`, `io`, `readonly`, `cantopen`: the system refuses. It says nothing about what is in the file.
 * - `constraint`: a rule of a table was broken.
 * - `unavailable`: no engine can be loaded here.
 * - `other`: a wrong statement, a number that JavaScript does not hold, and whatever else SQLite reports.
 */
export type SqliteFailure =
  | 'busy'
  | 'damaged'
  | 'full'
  | 'io'
  | 'readonly'
  | 'cantopen'
  | 'constraint'
  | 'unavailable'
  | 'other';

/** Thrown where neither engine can be loaded. The message has the reasons and the remedy, in one line. */
export class SqliteUnavailable extends Error {
  override readonly name = 'SqliteUnavailable';
}

/** @returns undefined for what is no error of a database. A database that was closed gives none: that is a mistake of the caller. */
export function sqliteFailure(error: unknown): SqliteFailure | undefined {
  if (error instanceof SqliteUnavailable) return 'unavailable';
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const { code, errcode } = error as Error & { readonly code: unknown; readonly errcode?: unknown };
  // node:sqlite: the number of SQLite, whose last eight bits are the result code.
  if (code === 'ERR_SQLITE_ERROR') return BY_NUMBER.get(Number(errcode) & 0xff) ?? 'other';
  if (code === 'ERR_OUT_OF_RANGE')
    return /represented as a JavaScript number/.test(error.message) ? 'other' : undefined;
  // better-sqlite3: its name, which may go on: SQLITE_IOERR_WRITE.
  const [, name] = /^SQLITE_([A-Z]+)/.exec(String(code)) ?? [];
  return name === undefined ? undefined : (BY_NAME.get(name) ?? 'other');
}

// --- internal ---

/** Result codes (sqlite.org/rescode.html) that tell something apart. */
const CODES: readonly (readonly [name: string, number: number, failure: SqliteFailure])[] = [
  ['PERM', 3, 'readonly'],
  ['BUSY', 5, 'busy'],
  ['LOCKED', 6, 'busy'],
  ['READONLY', 8, 'readonly'],
  ['IOERR', 10, 'io'],
  ['CORRUPT', 11, 'damaged'],
  ['FULL', 13, 'full'],
  ['CANTOPEN', 14, 'cantopen'],
  ['CONSTRAINT', 19, 'constraint'],
  ['NOTADB', 26, 'damaged'],
];
const BY_NAME = new Map(CODES.map(([name, , failure]) => [name, failure]));
const BY_NUMBER = new Map(CODES.map(([, number, failure]) => [number, failure]));
