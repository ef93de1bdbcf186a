/** The kind of a database error, whichever engine has thrown it. */
export type SqliteFailure =
  /** Another connection has locked the file or a table. A later attempt may succeed. */
  | 'busy'
  /** The file is not a valid database, or its rows are not what was written. */
  | 'damaged'
  /** The operating system refuses. The file itself may be valid. */
  | ('full' | 'io' | 'readonly' | 'cantopen')
  | 'constraint'
  /** No engine can be loaded. */
  | 'unavailable'
  /** An invalid statement, a number that JavaScript cannot represent, and everything else that SQLite reports. */
  | 'other';

/** Thrown when neither engine can be loaded. The message has the reason and the remedy, in one line. */
export class SqliteUnavailable extends Error {
  override readonly name = 'SqliteUnavailable';
}

/** Thrown when rows contradict each other, or contain values that were never written: `sqliteFailure` says `damaged`. */
export class SqliteRowsDamaged extends Error {
  override readonly name = 'SqliteRowsDamaged';
}

/** @returns Undefined for any other error; also when a closed database is used, which is a mistake of the caller. */
export function sqliteFailure(error: unknown): SqliteFailure | undefined {
  if (error instanceof SqliteUnavailable) return 'unavailable';
  if (error instanceof SqliteRowsDamaged) return 'damaged';
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const { code, errcode } = error as Error & { readonly code: unknown; readonly errcode?: unknown };
  // node:sqlite: the number of SQLite. Its last eight bits are the result code.
  if (code === 'ERR_SQLITE_ERROR') return BY_NUMBER.get(Number(errcode) & 0xff) ?? 'other';
  if (code === 'ERR_OUT_OF_RANGE')
    return /represented as a JavaScript number/.test(error.message) ? 'other' : undefined;
  // better-sqlite3: the name of the code, which may have a suffix: SQLITE_IOERR_WRITE.
  const [, name] = /^SQLITE_([A-Z]+)/.exec(String(code)) ?? [];
  return name === undefined ? undefined : (BY_NAME.get(name) ?? 'other');
}

// --- internal ---

/** Result codes (sqlite.org/rescode.html) and what they mean here; every other code is `other`. */
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
