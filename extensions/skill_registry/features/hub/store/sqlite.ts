import { randomBytes } from 'node:crypto';
import { CodedError } from 'skill-registry/kernel';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { openSqlite, type SqliteStatement } from '../../../../../lib/sqlite/index.ts';
import { fileIdentity, openDatabase, type SqliteDatabase, versionOf } from '../../../core/store/open-database.ts';
import type { HubStore } from './hub-store.ts';
import { PEOPLE, SCHEMA, USAGE } from './schema.ts';
import { EVERY_SPACE, SqlStore } from './sql-store.ts';
import type { Statement, Steps, Value } from './steps.ts';

/** For one hub, in one file. */
export class SqliteStore extends SqlStore {
  readonly #file: string;
  readonly #database: SqliteDatabase;
  readonly #identity: string;
  readonly #statements = new Map<string, SqliteStatement<unknown>>();
  #looking: NodeJS.Timeout | undefined;
  #version = 0;

  /** @param file - Absolute. @throws STORE_UNAVAILABLE for the file of another release. */
  constructor(file: string) {
    super();
    this.#file = file;
    this.#database = openDatabase(file);
    prepare(this.#database, file);
    this.#identity = fileIdentity(file);
  }

  async state(space: string): ReturnType<HubStore['state']> {
    const [found] = await this.read<{ epoch: string; head: number }>(
      'SELECT epoch, coalesce((SELECT head FROM space WHERE name = ?), 0) AS head FROM hub',
      space,
    );
    return found as NonNullable<typeof found>;
  }

  async renewEpoch(): Promise<void> {
    renewEpoch(this.#database, this.#file);
  }

  override onChange(listener: (space: string) => void): () => void {
    if (!this.#looking) {
      this.#version = this.#dataVersion();
      this.#looking = setInterval(() => this.#look(), LOOK_MS).unref();
    }
    return super.onChange(listener);
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    this.#database.close();
  }

  protected async read<T>(sql: string, ...values: readonly Value[]): Promise<readonly T[]> {
    this.#assertSame();
    return this.#prepared(sql).all(...values) as T[];
  }

  protected async write<T>(space: string | null, steps: () => Steps<T | undefined>): Promise<T | undefined> {
    this.#assertSame();
    const result = this.#database.transaction(() => {
      if (space) this.#answer({ sql: 'INSERT OR IGNORE INTO space VALUES (?, 0)', values: [space], reads: false });
      const work = steps();
      let step = work.next();
      while (!step.done) step = work.next(this.#answer(step.value));
      return step.value;
    });
    if (result === undefined || space === null) return result;
    if (space === EVERY_SPACE) this.#tellAll();
    else this.tell(space);
    return result;
  }

  /** A restore has put another file there: what is written here would be lost, what is revoked there goes on here. */
  #assertSame(): void {
    if (fileIdentity(this.#file) === this.#identity) return;
    throw new CodedError('STORE_UNAVAILABLE', 'The file of the database was replaced. Start the hub again.');
  }

  #answer({ sql, values, reads }: Statement): { readonly rows: readonly unknown[]; readonly count: number } {
    const statement = this.#prepared(sql);
    if (reads) return { rows: statement.all(...values), count: 0 };
    return { rows: [], count: statement.run(...values).changes };
  }

  #prepared(sql: string): SqliteStatement<unknown> {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** A command beside the hub may have changed something. */
  #look(): void {
    const version = withFallback(() => this.#dataVersion(), this.#version);
    if (version === this.#version) return;
    this.#version = version;
    this.#tellAll();
  }

  #tellAll(): void {
    const all = this.#database.prepare<{ space: string }>('SELECT space FROM token UNION SELECT name FROM space').all();
    for (const { space } of all) this.tell(space);
  }

  /** Another one when another connection has changed something. */
  #dataVersion(): number {
    return this.#database.prepare<{ data_version: number }>('PRAGMA data_version').get()?.data_version ?? 0;
  }
}

/** A whole copy, while the hub runs. @param target - Must not exist. */
export function backUp(file: string, target: string): void {
  const database = openDatabase(file);
  try {
    database.prepare('VACUUM INTO ?').run(target);
  } finally {
    database.close();
  }
}

/** @throws STORE_UNAVAILABLE when it is damaged, or no database of a hub. */
export function assertWhole(file: string, from: string): void {
  const database = openSqlite(file);
  const found = (() => {
    try {
      const isOfHub = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'audit'").get() !== undefined;
      const verdict = database.prepare<{ integrity_check: string }>('PRAGMA integrity_check').get()?.integrity_check;
      return isOfHub && verdict === 'ok' && versionOf(database) <= STEPS.length;
    } catch {
      return false;
    } finally {
      database.close();
    }
  })();
  if (!found)
    throw new CodedError('STORE_UNAVAILABLE', `${from} is damaged, or no backup of a hub. Nothing was changed.`);
}

// --- internal ---

const STEPS = [SCHEMA, PEOPLE, USAGE];
const LOOK_MS = 500;

function prepare(database: SqliteDatabase, file: string): void {
  const version = versionOf(database);
  if (version > STEPS.length)
    throw new CodedError('STORE_UNAVAILABLE', `${file} was written by a later release (${version}). Use that one.`);
  database.transaction(() => {
    const steps = STEPS.slice(versionOf(database)).join('');
    if (steps !== '') database.exec(`${steps}; PRAGMA user_version = ${STEPS.length}`);
    const found = database.prepare<{ file: string }>('SELECT file FROM hub').get();
    // A copy that was put there: its numbers may have been given before, for other changes.
    if (found?.file !== fileIdentity(file)) renewEpoch(database, file);
  });
}

function renewEpoch(database: SqliteDatabase, file: string): void {
  const sql = 'INSERT OR REPLACE INTO hub (only, epoch, file) VALUES (1, ?, ?)';
  database.prepare(sql).run(randomBytes(12).toString('hex'), fileIdentity(file));
}
