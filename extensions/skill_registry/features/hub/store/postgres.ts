import { randomBytes } from 'node:crypto';
import { inTransaction, type Sql, type TransactionSql } from '../../../../../lib/postgres/index.ts';
import type { HubStore } from './hub-store.ts';
import { PLACE } from './postgres-schema.ts';
import { assertOnlyAdds, coded, openTables } from './postgres-tables.ts';
import { EVERY_SPACE, SqlStore } from './sql-store.ts';
import type { Statement, Steps, Value } from './steps.ts';

/** For several hubs, in one database. */
export class PostgresStore extends SqlStore {
  protected override readonly chainLock = 'SELECT pg_advisory_xact_lock(7800001)';
  readonly #sql: Sql;
  /** Of each space, how often it was changed when its listeners were told last. */
  readonly #told = new Map<string, number>();
  #looking: NodeJS.Timeout | undefined;
  /** False after a look that failed: what was changed since then is not known. */
  #isKnown = true;

  private constructor(sql: Sql) {
    super();
    this.#sql = sql;
  }

  /** @throws STORE_UNAVAILABLE; HUB_SCHEMA for the tables of another release, or none. */
  static async open(address: string): Promise<PostgresStore> {
    const sql = await openTables(address);
    const store = new PostgresStore(sql);
    // A restore may have been made while no hub ran.
    await coded(store.state(''));
    return store;
  }

  /** @throws HUB_ROLE. */
  assertOnlyAdds(): Promise<void> {
    return assertOnlyAdds(this.#sql);
  }

  async state(space: string): ReturnType<HubStore['state']> {
    const [found] = await this.#sql<{ epoch: string; head: number; same: boolean }[]>`
      SELECT epoch, place = ${this.#sql.unsafe(PLACE)} AS same,
        coalesce((SELECT head FROM space WHERE name = ${space}), 0) AS head FROM hub`;
    if (found?.same) return { epoch: found.epoch, head: found.head };
    // A restore: its numbers may have been given before, for other changes.
    await this.renewEpoch();
    return this.state(space);
  }

  async renewEpoch(): Promise<void> {
    await this.#sql`UPDATE hub SET epoch = ${randomBytes(12).toString('hex')}, place = ${this.#sql.unsafe(PLACE)}`;
  }

  override onChange(listener: (space: string) => void): () => void {
    if (!this.#looking) {
      this.#looking = setInterval(() => void this.#look(), LOOK_MS).unref();
      const heard = (payload: string): void => {
        const [, moved = '', space = ''] = /^(\d+) (.*)$/.exec(payload) ?? [];
        this.#hear(space, Number(moved));
      };
      this.#sql.listen(CHANNEL, heard).catch(() => undefined);
    }
    return super.onChange(listener);
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    await this.#sql.end({ timeout: 2 });
  }

  protected async read<T>(sql: string, ...values: readonly Value[]): Promise<readonly T[]> {
    const found: readonly unknown[] = await ask(this.#sql, { sql, values });
    return [...found] as T[];
  }

  /** The row of the space is locked by one transaction at a time, and counts what was changed. */
  protected async write<T>(space: string | null, steps: () => Steps<T | undefined>): Promise<T | undefined> {
    let moved = 0;
    const { result } = await inTransaction(this.#sql, async (sql) => {
      const lock = () => sql`SELECT FROM space WHERE name = ${space} FOR UPDATE`;
      if (space !== null && (await lock()).count === 0) {
        await sql`INSERT INTO space VALUES (${space}, 0, 0) ON CONFLICT DO NOTHING`;
        await lock();
      }
      const work = steps();
      let step = work.next();
      while (!step.done) {
        const found = await ask(sql, step.value);
        step = work.next({ rows: found, count: found.count });
      }
      if (space === null || step.value === undefined) return { result: step.value };
      const [row] = await sql<{ moved: number }[]>`UPDATE space SET moved = moved + 1 WHERE name = ${space}
        RETURNING moved, pg_notify(${CHANNEL}, moved || ' ' || name)`;
      moved = row?.moved ?? 0;
      return { result: step.value };
    });
    if (space !== null) this.#hear(space, moved);
    return result;
  }

  /** Tells once of each change, by whatever way it was heard of. */
  #hear(space: string, moved: number): void {
    if (moved <= (this.#told.get(space) ?? 0)) return;
    this.#told.set(space, moved);
    for (const one of space === EVERY_SPACE ? this.#told.keys() : [space]) this.tell(one);
  }

  /** What another hub has changed: a notification may be lost. */
  async #look(): Promise<void> {
    try {
      const rows = await this.#sql<{ name: string; moved: number }[]>`SELECT name, moved FROM space`;
      if (!this.#isKnown || rows.some(({ name, moved }) => moved < (this.#told.get(name) ?? 0))) this.#told.clear();
      this.#isKnown = true;
      for (const { name, moved } of rows) this.#hear(name, moved);
    } catch {
      this.#isKnown = false;
    }
  }
}

// --- internal ---

const CHANNEL = 'skill_hub';
/** How often the number of changes is read, beside what is notified. */
const LOOK_MS = 1000;

function ask(sql: Sql | TransactionSql, { sql: text, values }: Omit<Statement, 'reads'>) {
  let count = 0;
  const numbered = text.replace(/\?/g, () => `$${++count}`);
  return sql.unsafe(numbered, [...values], { prepare: true });
}
