import { createRequire } from 'node:module';
import { SqliteUnavailable } from './failure.ts';

/** What both engines offer in the same way. */
export interface EngineDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement<never>;
  loadExtension(file: string): void;
  close(): void;
}

/** Opens a file, or `:memory:`. */
export type Engine = (file: string) => EngineDatabase;

/**
 * `node:sqlite` on Node 24 and later, where better-sqlite3 12 aborts the process at a garbage collection; before that
 * better-sqlite3, and `node:sqlite` where that was not built and Node has it.
 *
 * @throws SqliteUnavailable, the same one at every call.
 */
export function loadEngine(): Engine {
  loaded ??= chooseEngine();
  if (loaded instanceof SqliteUnavailable) throw loaded;
  return loaded;
}

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

// --- internal ---

/** The first Node on which better-sqlite3 12 must not be used. */
const BUILT_IN_FROM = 24;

let loaded: Engine | SqliteUnavailable | undefined;

function chooseEngine(): Engine | SqliteUnavailable {
  const node = `Node ${process.versions.node}`;
  if (Number.parseInt(process.versions.node, 10) >= BUILT_IN_FROM) {
    const remedy = 'Use one that was neither built nor started without it (--no-experimental-sqlite).';
    return loadNodeSqlite() ?? new SqliteUnavailable(`This ${node} has no node:sqlite. ${remedy}`);
  }
  try {
    return loadBetterSqlite();
  } catch (cause) {
    const isInstalled = (cause as { readonly code?: unknown }).code !== 'MODULE_NOT_FOUND';
    const reason = isInstalled ? 'was not built for' : 'is not installed for';
    const command = isInstalled ? 'npm rebuild better-sqlite3' : 'npm install better-sqlite3@12';
    const message = `better-sqlite3 ${reason} this ${node}. Use Node ${BUILT_IN_FROM}, which has SQLite, or: ${command}`;
    return loadNodeSqlite() ?? new SqliteUnavailable(message, { cause });
  }
}

/** The package, when its binary was built for this Node. @throws when not. */
function loadBetterSqlite(): Engine {
  const Database = createRequire(import.meta.url)('better-sqlite3') as new (file: string) => EngineDatabase;
  // The binary is loaded by the first database.
  new Database(':memory:').close();
  return (file) => new Database(file);
}

/** What comes with Node. Undefined where this Node has none. */
function loadNodeSqlite(): Engine | undefined {
  const found = builtInSqlite();
  if (!found) return undefined;
  const { DatabaseSync } = found;
  const open = (file: string): EngineDatabase => new DatabaseSync(file, { allowExtension: true });
  return bindsEmptyBlobs(open(':memory:')) ? open : (file) => withEmptyBlobs(open(file));
}

interface BuiltIn {
  readonly DatabaseSync: new (file: string, options: { readonly allowExtension: boolean }) => EngineDatabase;
}

/** Older ones call it experimental, on standard error, when it is loaded. */
function builtInSqlite(): BuiltIn | undefined {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule('node:sqlite') as BuiltIn | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Node 22 and early versions of 24 bind NULL for bytes without memory, which is how an empty file is read. */
function bindsEmptyBlobs(database: EngineDatabase): boolean {
  const statement: SqliteStatement<{ kind: string }> = database.prepare('SELECT typeof(?) AS kind');
  const bound = statement.get(new Uint8Array(new ArrayBuffer(0)));
  database.close();
  return bound?.kind === 'blob';
}

/** Empty as well, and somewhere. */
const NO_BYTES = new Uint8Array(1).subarray(1);

function withEmptyBlobs(database: EngineDatabase): EngineDatabase {
  const mended = (values: readonly SqliteValue[]): readonly SqliteValue[] =>
    values.map((value) => (value instanceof Uint8Array && value.length === 0 ? NO_BYTES : value));
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        run: (...values) => statement.run(...mended(values)),
        get: (...values) => statement.get(...mended(values)),
        all: (...values) => statement.all(...mended(values)),
        iterate: (...values) => statement.iterate(...mended(values)),
      };
    },
    loadExtension: (file) => database.loadExtension(file),
    close: () => database.close(),
  };
}
