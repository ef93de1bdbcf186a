import { createRequire } from 'node:module';
import type { SqliteStatement, SqliteValue } from './database.ts';
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
