export type SqliteFailure =
  /** Another connection holds a lock. A later attempt may succeed. */
  | 'busy'
  /** Not a valid database, or rows with impossible values. */
  | 'damaged'
  /** The operating system refuses; the file may be valid. */
  | ('full' | 'io' | 'readonly' | 'cantopen')
  | 'constraint'
  | 'unavailable'
  /** An invalid statement, a number too large for JavaScript, any other error of SQLite. */
  | 'other';

/** No engine can be loaded. The message is one line with reason and remedy. */
export class SqliteUnavailable extends Error {
  override readonly name = 'SqliteUnavailable';
}

/** Rows contradict each other or have impossible values. `sqliteFailure` gives `damaged`. */
export class SqliteRowsDamaged extends Error {
  override readonly name = 'SqliteRowsDamaged';
}

/** Undefined for other errors, also for the use of a closed database. */
export function sqliteFailure(error: unknown): SqliteFailure | undefined {
  if (error instanceof SqliteUnavailable) return 'unavailable';
  if (error instanceof SqliteRowsDamaged) return 'damaged';
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const { code, errcode } = error as Error & { readonly code: unknown; readonly errcode?: unknown };
  // node:sqlite: the last eight bits of the number are the result code.
  if (code === 'ERR_SQLITE_ERROR') return BY_NUMBER.get(Number(errcode) & 0xff) ?? 'other';
  if (code === 'ERR_OUT_OF_RANGE')
    return /represented as a JavaScript number/.test(error.message) ? 'other' : undefined;
  // better-sqlite3: a name, perhaps with a suffix: SQLITE_IOERR_WRITE.
  const [, name] = /^SQLITE_([A-Z]+)/.exec(String(code)) ?? [];
  return name === undefined ? undefined : (BY_NAME.get(name) ?? 'other');
}

// --- internal ---

/** Result codes: sqlite.org/rescode.html. Any other code is `other`. */
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
