import { randomBytes } from 'node:crypto';
import { inTransaction, type Sql, type TransactionSql } from '../../../../../lib/postgres/index.ts';
import type {
  AuditRow,
  HubArtifact,
  HubChange,
  HubEvent,
  HubName,
  HubPerson,
  HubProposal,
  HubRevision,
  HubSkill,
  HubStore,
  HubToken,
  NewHubProposal,
  UsageBatch,
  UsedSkill,
} from './hub-store.ts';
import { PLACE } from './postgres-schema.ts';
import { assertOnlyAdds, coded, openTables } from './postgres-tables.ts';
import {
  auditAfter,
  auditOf,
  auditOfPerson,
  auditOfToken,
  eventOf,
  eventRow,
  Listeners,
  type NewAudit,
  type NewToken,
  now,
  proposalOf,
  proposalRow,
  type Row,
  revisionOf,
  rowsOfCommit,
  rowsOfUsage,
  type StoredEvent,
  type StoredProposal,
  type StoredRevision,
  type StoredSkill,
  skillOf,
  validToken,
  wantedOf,
} from './rows.ts';

/** For several hubs, in one database. */
export class PostgresStore implements HubStore {
  readonly #sql: Sql;
  readonly #listeners = new Listeners();
  /** Of each space, how often it was changed when its listeners were told last. */
  readonly #told = new Map<string, number>();
  #looking: NodeJS.Timeout | undefined;
  /** False after a look that failed: what was changed since then is not known. */
  #isKnown = true;

  private constructor(sql: Sql) {
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

  async changes(space: string, after: number, limit: number): Promise<readonly HubSkill[]> {
    const rows = await this.#sql<StoredSkill[]>`
      SELECT seq, id, description, tags, allowed, type, digest, size, revision FROM skill
      WHERE space = ${space} AND seq > ${after} ORDER BY seq LIMIT ${limit}`;
    return rows.map(skillOf);
  }

  async skill(space: string, id: string): Promise<HubSkill | undefined> {
    const [found] = await this.#sql<StoredSkill[]>`
      SELECT seq, id, description, tags, allowed, type, digest, size, revision FROM skill
      WHERE space = ${space} AND id = ${id}`;
    return found && skillOf(found);
  }

  async artifact(...[space, digest, whose]: Parameters<HubStore['artifact']>): ReturnType<HubStore['artifact']> {
    type Found = { readonly bytes: Buffer; readonly type: HubArtifact['entry']['type'] };
    const [found] =
      whose === 'present'
        ? await this.#sql<Found[]>`SELECT bytes, skill.type FROM artifact JOIN skill USING (digest)
            WHERE space = ${space} AND digest = ${digest} LIMIT 1`
        : await this.#sql<Found[]>`SELECT bytes, revision.type FROM artifact JOIN revision USING (digest)
            WHERE space = ${space} AND digest = ${digest} AND skill_id = ${whose.skillId} LIMIT 1`;
    return found && { ...found };
  }

  async revisions(space: string, skillId: string): Promise<readonly HubRevision[]> {
    const rows = await this.#sql<StoredRevision[]>`
      SELECT number, kind, digest, type, at, by, reason, proposal, persons FROM revision
      WHERE space = ${space} AND skill_id = ${skillId} ORDER BY number`;
    return rows.map(revisionOf);
  }

  commit(space: string, change: HubChange): Promise<number | undefined> {
    return this.#write(space, async (sql) => {
      const { skillId, after, proposal } = change;
      const [last] = await sql<{ number: number | null }[]>`
        SELECT max(number) AS number FROM revision WHERE space = ${space} AND skill_id = ${skillId}`;
      // Whoever was faster has changed it.
      if ((last?.number ?? 0) !== after) return undefined;
      const { decided, events, artifact, revision, skill, audit } = rowsOfCommit(space, change);
      if (proposal && !(await updateProposal(sql, space, proposal, decided))) return undefined;
      if (events.length > 0) await sql`INSERT INTO proposal_event ${sql(events)}`;
      if (artifact) await sql`INSERT INTO artifact ${sql(artifact)} ON CONFLICT DO NOTHING`;
      await sql`INSERT INTO revision ${sql(revision)}`;
      const seq = await nextNumber(sql, space);
      await sql`INSERT INTO skill ${sql({ ...skill, seq })} ON CONFLICT (space, id) DO UPDATE SET ${sql({ ...skill, seq })}`;
      await addAudit(sql, audit);
      return after + 1;
    });
  }

  async addProposal(space: string, proposal: NewHubProposal): Promise<HubProposal | undefined> {
    const { id, author: by, person, sent_id: sentId } = proposal;
    const row = { space, ...proposalRow(proposal) };
    let before: HubProposal | undefined;
    await this.#write(space, async (sql) => {
      const [same] = await sql<StoredProposal[]>`
        SELECT * FROM proposal WHERE space = ${space} AND person = ${person} AND sent_id = ${sentId}`;
      before = same && proposalOf(same);
      if (same) return undefined;
      await sql`INSERT INTO proposal ${sql(row)}`;
      await sql`INSERT INTO proposal_event ${sql(eventRow(space, id, { kind: 'created', by, content: {} }))}`;
      await addAudit(sql, { by: person, space, what: 'propose', subject: id, details: JSON.stringify({ by }) });
      return true;
    });
    return before;
  }

  async proposal(space: string, id: string): Promise<HubProposal | undefined> {
    const [row] = await this.#sql<StoredProposal[]>`SELECT * FROM proposal WHERE space = ${space} AND id = ${id}`;
    return row && proposalOf(row);
  }

  async proposals(space: string, filter: Parameters<HubStore['proposals']>[1]): Promise<readonly HubProposal[]> {
    const sql = this.#sql;
    const wanted = wantedOf(filter).map(([column, values]) => sql` AND ${sql(column)} IN ${sql([...values])}`);
    const rows = await sql<StoredProposal[]>`
      SELECT * FROM proposal WHERE ${[sql`space = ${space}`, ...wanted]} ORDER BY seq DESC LIMIT ${filter.limit ?? null}`;
    return rows.map(proposalOf);
  }

  async note(
    space: string,
    proposal: Pick<HubProposal, 'id' | 'edition'>,
    fields: Partial<HubProposal>,
    event: Omit<HubEvent, 'at'>,
  ): Promise<boolean> {
    const isDone = await this.#write(space, async (sql) => {
      if (!(await updateProposal(sql, space, proposal, fields))) return undefined;
      const { kind: what, by, content } = event;
      await sql`INSERT INTO proposal_event ${sql(eventRow(space, proposal.id, event))}`;
      await addAudit(sql, { by, space, what, subject: proposal.id, details: JSON.stringify(content) });
      return true;
    });
    return isDone === true;
  }

  async events(space: string, proposalId: string): Promise<readonly HubEvent[]> {
    const rows = await this.#sql<StoredEvent[]>`
      SELECT kind, at, by, content FROM proposal_event WHERE space = ${space} AND proposal = ${proposalId} ORDER BY seq`;
    return rows.map(eventOf);
  }

  async addToken(token: NewToken, hash: string): Promise<void> {
    await this.#write(token.space, async (sql) => {
      await sql`INSERT INTO token ${sql({ ...token, hash, created: now() })}`;
      await addAudit(sql, auditOfToken(token));
      return true;
    });
  }

  async tokens(): Promise<readonly HubToken[]> {
    return this.#sql<HubToken[]>`SELECT ${this.#sql(TOKEN)} FROM token ORDER BY created, id`;
  }

  async tokenOf(hash: string): Promise<HubToken | undefined> {
    const at = now();
    const [row] = await this.#sql<
      HubToken[]
    >`SELECT ${this.#sql(TOKEN)} FROM token WHERE hash = ${hash} AND revoked IS NULL`;
    const found = validToken(row, at);
    const minute = at.slice(0, 16);
    if (found && found.last_use !== minute)
      await this.#sql`UPDATE token SET last_use = ${minute} WHERE id = ${found.id}`;
    return found;
  }

  async revokeToken(id: string, by: string): Promise<boolean> {
    const [token] = await this.#sql<{ space: string }[]>`SELECT space FROM token WHERE id = ${id}`;
    if (!token) return false;
    const { space } = token;
    const isDone = await this.#write(space, async (sql) => {
      const { count } = await sql`UPDATE token SET revoked = ${now()} WHERE id = ${id} AND revoked IS NULL`;
      if (count === 0) return undefined;
      await addAudit(sql, { by, space, what: 'token revoke', subject: id, details: '{}' });
      return true;
    });
    return isDone === true;
  }

  async people(key?: string): Promise<readonly HubPerson[]> {
    const only = key === undefined ? this.#sql`` : this.#sql`WHERE key = ${key}`;
    return this.#sql<HubPerson[]>`SELECT * FROM person ${only} ORDER BY key COLLATE "C", space COLLATE "C"`;
  }

  async addPerson(person: HubPerson, by: string): Promise<void> {
    const { key, role } = person;
    await this.#write(EVERY_SPACE, async (sql) => {
      const { count } = await sql`DELETE FROM person WHERE key = ${key} AND role IS NULL`;
      if (count > 0) await sql`DELETE FROM account WHERE key = ${key}`;
      await sql`INSERT INTO person ${sql({ ...person })}
        ON CONFLICT (key, space) DO UPDATE SET ${sql({ person: person.person, role })}`;
      await addAudit(sql, auditOfPerson(person, by));
      return true;
    });
  }

  async removePerson({ key, person }: HubName, by: string): Promise<void> {
    const removed = { key, person, space: '', role: null };
    await this.#write(EVERY_SPACE, async (sql) => {
      await sql`DELETE FROM person WHERE key = ${key}`;
      await sql`INSERT INTO person ${sql(removed)}`;
      await addAudit(sql, auditOfPerson(removed, by));
      return true;
    });
  }

  async nameAccount(account: string, { key, person }: HubName): Promise<string | undefined> {
    const known = async (sql: Sql | TransactionSql): Promise<string | undefined> =>
      (await sql<{ person: string }[]>`SELECT person FROM account WHERE account = ${account}`)[0]?.person;
    const made = async (sql: TransactionSql): Promise<string | undefined> => {
      const { count } = await sql`INSERT INTO account ${sql({ account, key, person })} ON CONFLICT DO NOTHING`;
      if (count > 0) await addAudit(sql, { by: person, space: '', what: 'account', subject: account, details: '{}' });
      return known(sql);
    };
    return (await known(this.#sql)) ?? this.#write(EVERY_SPACE, made);
  }

  async noteAudit(row: NewAudit): Promise<void> {
    await inTransaction(this.#sql, (sql) => addAudit(sql, row));
  }

  async audit(): ReturnType<HubStore['audit']> {
    return auditOf(await this.#sql<AuditRow[]>`SELECT * FROM audit ORDER BY seq`);
  }

  async addUsage(space: string, batch: UsageBatch): Promise<boolean> {
    const { oldest, sent, counts } = rowsOfUsage(space, batch);
    return inTransaction(this.#sql, async (sql) => {
      await sql`DELETE FROM usage_count WHERE space = ${space} AND day < ${oldest}`;
      await sql`DELETE FROM usage_sent WHERE space = ${space} AND day < ${oldest}`;
      if ((await sql`INSERT INTO usage_sent ${sql(sent)} ON CONFLICT DO NOTHING`).count === 0) return false;
      const add = (row: Row) => sql`INSERT INTO usage_count ${sql(row)}
        ON CONFLICT (space, day, skill_id, agent, machine)
        DO UPDATE SET loads = usage_count.loads + excluded.loads,
          refused = usage_count.refused + excluded.refused`;
      await Promise.all(counts.map(add));
      return true;
    });
  }

  async usage(space: string, from: string): Promise<readonly UsedSkill[]> {
    return this.#sql<UsedSkill[]>`
      SELECT skill_id, agent, sum(loads)::float8 AS loads, sum(refused)::float8 AS refused,
        count(DISTINCT machine)::integer AS machines, max(day COLLATE "C") AS last_day
      FROM usage_count WHERE space = ${space} AND day >= ${from} GROUP BY skill_id, agent
      ORDER BY sum(loads) DESC, skill_id COLLATE "C", agent COLLATE "C" LIMIT 1000`;
  }

  async renewEpoch(): Promise<void> {
    await this.#sql`UPDATE hub SET epoch = ${randomBytes(12).toString('hex')}, place = ${this.#sql.unsafe(PLACE)}`;
  }

  onChange(listener: (space: string) => void): () => void {
    if (!this.#looking) {
      this.#looking = setInterval(() => void this.#look(), LOOK_MS).unref();
      const heard = (payload: string): void => {
        const [, moved = '', space = ''] = /^(\d+) (.*)$/.exec(payload) ?? [];
        this.#hear(space, Number(moved));
      };
      this.#sql.listen(CHANNEL, heard).catch(() => undefined);
    }
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    await this.#sql.end({ timeout: 2 });
  }

  /**
   * A transaction that has the space for itself, so that of two changes the second one sees the first.
   * @param work - Undefined: nothing was done, and nobody is told.
   */
  async #write<T>(space: string, work: (sql: TransactionSql) => Promise<T | undefined>): Promise<T | undefined> {
    let moved = 0;
    const done = await inTransaction(this.#sql, async (sql) => {
      const lock = () => sql`SELECT FROM space WHERE name = ${space} FOR UPDATE`;
      if ((await lock()).count === 0) {
        await sql`INSERT INTO space VALUES (${space}, 0, 0) ON CONFLICT DO NOTHING`;
        await lock();
      }
      const result = await work(sql);
      if (result === undefined) return undefined;
      const [row] = await sql<{ moved: number }[]>`UPDATE space SET moved = moved + 1 WHERE name = ${space}
        RETURNING moved, pg_notify(${CHANNEL}, moved || ' ' || name)`;
      moved = row?.moved ?? 0;
      return { result };
    });
    if (!done) return undefined;
    this.#hear(space, moved);
    return done.result;
  }

  /** Tells once of each change, by whatever way it was heard of. */
  #hear(space: string, moved: number): void {
    if (moved <= (this.#told.get(space) ?? 0)) return;
    this.#told.set(space, moved);
    for (const one of space === EVERY_SPACE ? this.#told.keys() : [space]) this.#listeners.tell(one);
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

/** Stands for what is in no space. No space has this name. */
const EVERY_SPACE = '';
const CHANNEL = 'skill_hub';
/** How often the number of changes is read, beside what is notified. */
const LOOK_MS = 1000;
const TOKEN = ['id', 'space', 'role', 'person', 'created', 'created_by', 'expires', 'last_use', 'revoked'];
/** Any number: only hubs take it. */
const CHAIN_LOCK = 7_800_001;

async function updateProposal(
  sql: TransactionSql,
  space: string,
  { id, edition }: Pick<HubProposal, 'id' | 'edition'>,
  fields: Partial<HubProposal>,
): Promise<boolean> {
  const changed = { ...proposalRow(fields), edition: edition + 1 };
  const { count } = await sql`UPDATE proposal SET ${sql(changed)}
    WHERE space = ${space} AND id = ${id} AND edition = ${edition} AND state IN ('open', 'stale')`;
  return count === 1;
}

/** One row that every change of the space updates: a reader never sees a number before a lower one. */
async function nextNumber(sql: TransactionSql, space: string): Promise<number> {
  const [row] = await sql<{ head: number }[]>`UPDATE space SET head = head + 1 WHERE name = ${space} RETURNING head`;
  return row?.head ?? 0;
}

/** Call it last in a transaction: one row follows another, over all spaces. */
async function addAudit(sql: TransactionSql, what: NewAudit): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${CHAIN_LOCK})`;
  const [last] = await sql<AuditRow[]>`SELECT * FROM audit ORDER BY seq DESC LIMIT 1`;
  await sql`INSERT INTO audit ${sql(auditAfter(last, what))}`;
}
