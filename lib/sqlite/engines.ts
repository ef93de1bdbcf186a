import { createRequire } from 'node:module';
import { SqliteUnavailable } from './failure.ts';

export interface EngineDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement<never>;
  loadExtension(file: string): void;
  close(): void;
}

/** @param file - May be `:memory:`. */
export type Engine = (file: string) => EngineDatabase;

/**
 * From Node 24 on `node:sqlite`: better-sqlite3 12 aborts the process there at a garbage collection. Before:
 * better-sqlite3, or `node:sqlite` when that is not built. @throws SqliteUnavailable, always the same object.
 */
export function loadEngine(): Engine {
  loaded ??= chooseEngine();
  if (loaded instanceof SqliteUnavailable) throw loaded;
  return loaded;
}

/** Numbers are bound as floating point. Node 22 and early 24 read a text only up to its first NUL. */
export type SqliteValue = string | number | bigint | null | Uint8Array;

export interface SqliteStatement<Row> {
  /** `lastInsertRowid` is valid after an INSERT that added a row. */
  run(...values: readonly SqliteValue[]): { readonly changes: number; readonly lastInsertRowid: number };
  get(...values: readonly SqliteValue[]): Row | undefined;
  all(...values: readonly SqliteValue[]): Row[];
  /** Until the last row or a `break`, do nothing else with the database. */
  iterate(...values: readonly SqliteValue[]): IterableIterator<Row>;
}

/** Every function throws errors that `sqliteFailure` classifies. */
export interface SqliteDatabase extends Pick<EngineDatabase, 'loadExtension'> {
  /** True for `:memory:`. */
  readonly memory: boolean;
  /** For statements that return no rows. */
  exec(sql: string): void;
  /** One statement; give a value for each `?`. If it returns no rows, use `run`. */
  prepare<Row = unknown>(sql: string): SqliteStatement<Row>;
  /**
   * Rolls back when `work`, which must be synchronous, throws. Cannot be nested.
   * @param kind - `immediate` takes the write lock at once; `deferred` reads one state of the file. Default: immediate.
   */
  transaction<T>(work: () => T, kind?: 'immediate' | 'deferred'): T;
  /** Ends its statements. May be repeated. */
  close(): void;
}

// --- internal ---

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
    const message = `better-sqlite3 ${reason} this ${node}. Use Node ${BUILT_IN_FROM}, which has SQLite, or in ${projectOf(isInstalled)}: ${command}`;
    return loadNodeSqlite() ?? new SqliteUnavailable(message, { cause });
  }
}

/** @throws when its binary was not built for this Node. */
function loadBetterSqlite(): Engine {
  const Database = createRequire(import.meta.url)('better-sqlite3') as new (file: string) => EngineDatabase;
  // Opening a database loads the binary.
  new Database(':memory:').close();
  return (file) => new Database(file);
}

/** Where npm has to run: the folder whose `node_modules` has, or should have, better-sqlite3. */
function projectOf(isInstalled: boolean): string {
  const file = isInstalled ? createRequire(import.meta.url).resolve('better-sqlite3') : import.meta.filename;
  const [inPackage, inModules] = [/^.*?(?=[\\/](?:dist[\\/])?lib[\\/]sqlite[\\/])/, /^.*(?=[\\/]node_modules[\\/])/];
  return inModules.exec(file)?.[0] ?? inPackage.exec(file)?.[0] ?? 'the folder of skill-registry';
}

function loadNodeSqlite(): Engine | undefined {
  const DatabaseSync = builtInSqlite()?.DatabaseSync;
  if (!DatabaseSync) return undefined;
  const open = (file: string): EngineDatabase => new DatabaseSync(file, { allowExtension: true });
  return bindsEmptyBlobs(open(':memory:')) ? open : (file) => withEmptyBlobs(open(file));
}

interface BuiltIn {
  readonly DatabaseSync: new (file: string, options: { readonly allowExtension: boolean }) => EngineDatabase;
}

/** Suppresses the warning that older versions print on loading. */
function builtInSqlite(): BuiltIn | undefined {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule('node:sqlite') as BuiltIn | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Node 22 and early 24 bind NULL for an array without memory, such as the content of an empty file. */
function bindsEmptyBlobs(database: EngineDatabase): boolean {
  const statement: SqliteStatement<{ kind: string }> = database.prepare('SELECT typeof(?) AS kind');
  const bound = statement.get(new Uint8Array(new ArrayBuffer(0)));
  database.close();
  return bound?.kind === 'blob';
}

const NO_BYTES = new Uint8Array(1).subarray(1);

function withEmptyBlobs(database: EngineDatabase): EngineDatabase {
  const withMemory = (values: readonly SqliteValue[]): readonly SqliteValue[] =>
    values.map((value) => (value instanceof Uint8Array && value.length === 0 ? NO_BYTES : value));
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        run: (...values) => statement.run(...withMemory(values)),
        get: (...values) => statement.get(...withMemory(values)),
        all: (...values) => statement.all(...withMemory(values)),
        iterate: (...values) => statement.iterate(...withMemory(values)),
      };
    },
    loadExtension: (file) => database.loadExtension(file),
    close: () => database.close(),
  };
}
