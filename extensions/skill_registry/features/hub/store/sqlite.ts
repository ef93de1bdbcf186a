import { randomBytes } from 'node:crypto';
import { CodedError } from 'skill-registry/kernel';
import { withFallback } from '../../../../../lib/errors/index.ts';
import { openSqlite } from '../../../../../lib/sqlite/index.ts';
import { fileIdentity, openDatabase, type SqliteDatabase, versionOf } from '../../../core/store/open-database.ts';
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
  type Value,
  validToken,
  wantedOf,
} from './rows.ts';
import { PEOPLE, SCHEMA, USAGE } from './schema.ts';

/** For one hub, in one file. */
export class SqliteStore implements HubStore {
  readonly #file: string;
  readonly #database: SqliteDatabase;
  readonly #identity: string;
  readonly #listeners = new Listeners();
  #looking: NodeJS.Timeout | undefined;
  #version = 0;

  /** @param file - Absolute. @throws STORE_UNAVAILABLE for the file of another release. */
  constructor(file: string) {
    this.#file = file;
    this.#database = openDatabase(file);
    prepare(this.#database, file);
    this.#identity = fileIdentity(file);
  }

  async state(space: string): ReturnType<HubStore['state']> {
    const { epoch } = this.#one<{ epoch: string }>('SELECT epoch FROM hub') as { epoch: string };
    const { head = 0 } = this.#one<{ head: number }>('SELECT head FROM space WHERE name = ?', space) ?? {};
    return { epoch, head };
  }

  async changes(space: string, after: number, limit: number): Promise<readonly HubSkill[]> {
    const sql = `${SKILLS} WHERE space = ? AND seq > ? ORDER BY seq LIMIT ?`;
    return this.#all<StoredSkill>(sql, space, after, limit).map(skillOf);
  }

  async skill(space: string, id: string): Promise<HubSkill | undefined> {
    const found = this.#one<StoredSkill>(`${SKILLS} WHERE space = ? AND id = ?`, space, id);
    return found && skillOf(found);
  }

  async artifact(...[space, digest, whose]: Parameters<HubStore['artifact']>): ReturnType<HubStore['artifact']> {
    const present = `SELECT bytes, skill.type FROM artifact JOIN skill USING (digest) WHERE space = ? AND digest = ?`;
    const any = `SELECT bytes, revision.type FROM artifact JOIN revision USING (digest)
      WHERE space = ? AND digest = ? AND skill_id = ?`;
    type Found = { readonly bytes: Uint8Array; readonly type: HubArtifact['entry']['type'] };
    const found =
      whose === 'present'
        ? this.#one<Found>(present, space, digest)
        : this.#one<Found>(any, space, digest, whose.skillId);
    return found && { ...found, bytes: Buffer.from(found.bytes) };
  }

  async revisions(space: string, skillId: string): Promise<readonly HubRevision[]> {
    const sql = `${REVISIONS} WHERE space = ? AND skill_id = ? ORDER BY number`;
    return this.#all<StoredRevision>(sql, space, skillId).map(revisionOf);
  }

  async commit(space: string, change: HubChange): Promise<number | undefined> {
    const number = this.#write(() => {
      const { skillId, after, proposal } = change;
      const sql = 'SELECT max(number) AS number FROM revision WHERE space = ? AND skill_id = ?';
      // Whoever was faster has changed it.
      if ((this.#one<{ number: number | null }>(sql, space, skillId)?.number ?? 0) !== after) return undefined;
      const { decided, events, artifact, revision, skill, audit } = rowsOfCommit(space, change);
      if (proposal && !this.#updateProposal(space, proposal, decided)) return undefined;
      for (const event of events) this.#insert('proposal_event', event);
      if (artifact) this.#insert('artifact', artifact, 'OR IGNORE');
      this.#insert('revision', revision);
      this.#insert('skill', { ...skill, seq: this.#nextNumber(space) }, 'OR REPLACE');
      this.#addAudit(audit);
      return after + 1;
    });
    if (number !== undefined) this.#listeners.tell(space);
    return number;
  }

  async addProposal(space: string, proposal: NewHubProposal): Promise<HubProposal | undefined> {
    const before = this.#write(() => {
      const { id, author: by, person, sent_id: sentId } = proposal;
      const [same] = this.#proposals('space = ? AND person = ? AND sent_id = ?', space, person, sentId);
      if (same) return same;
      this.#insert('proposal', { space, ...proposalRow(proposal) });
      this.#insert('proposal_event', eventRow(space, id, { kind: 'created', by, content: {} }));
      this.#addAudit({ by: person, space, what: 'propose', subject: id, details: JSON.stringify({ by }) });
      return undefined;
    });
    if (!before) this.#listeners.tell(space);
    return before;
  }

  async proposal(space: string, id: string): Promise<HubProposal | undefined> {
    return this.#proposals('space = ? AND id = ?', space, id)[0];
  }

  async proposals(space: string, filter: Parameters<HubStore['proposals']>[1]): Promise<readonly HubProposal[]> {
    const wanted = wantedOf(filter);
    const conditions = wanted.map(([column, values]) => ` AND ${column} IN (${values.map(() => '?').join(', ')})`);
    const where = `space = ?${conditions.join('')} ORDER BY seq DESC LIMIT ?`;
    return this.#proposals(where, space, ...wanted.flatMap(([, values]) => values), filter.limit ?? -1);
  }

  async note(
    space: string,
    proposal: Pick<HubProposal, 'id' | 'edition'>,
    fields: Partial<HubProposal>,
    event: Omit<HubEvent, 'at'>,
  ): Promise<boolean> {
    const isDone = this.#write(() => {
      if (!this.#updateProposal(space, proposal, fields)) return false;
      const { kind: what, by, content } = event;
      this.#insert('proposal_event', eventRow(space, proposal.id, event));
      this.#addAudit({ by, space, what, subject: proposal.id, details: JSON.stringify(content) });
      return true;
    });
    if (isDone) this.#listeners.tell(space);
    return isDone;
  }

  async events(space: string, proposalId: string): Promise<readonly HubEvent[]> {
    const sql = 'SELECT kind, at, by, content FROM proposal_event WHERE space = ? AND proposal = ? ORDER BY seq';
    return this.#all<StoredEvent>(sql, space, proposalId).map(eventOf);
  }

  async addToken(token: NewToken, hash: string): Promise<void> {
    this.#write(() => {
      this.#insert('token', { ...token, hash, created: now() });
      this.#addAudit(auditOfToken(token));
    });
  }

  async tokens(): Promise<readonly HubToken[]> {
    return this.#all<HubToken>(`${TOKENS} ORDER BY created, id`);
  }

  async tokenOf(hash: string): Promise<HubToken | undefined> {
    const at = now();
    const found = validToken(this.#one<HubToken>(`${TOKENS} WHERE hash = ? AND revoked IS NULL`, hash), at);
    const minute = at.slice(0, 16);
    if (found && found.last_use !== minute) this.#run('UPDATE token SET last_use = ? WHERE id = ?', minute, found.id);
    return found;
  }

  async revokeToken(id: string, by: string): Promise<boolean> {
    const space = this.#write(() => {
      if (this.#run('UPDATE token SET revoked = ? WHERE id = ? AND revoked IS NULL', now(), id) === 0) return undefined;
      const found = this.#one<{ space: string }>('SELECT space FROM token WHERE id = ?', id)?.space ?? '';
      this.#addAudit({ by, space: found, what: 'token revoke', subject: id, details: '{}' });
      return found;
    });
    if (space !== undefined) this.#listeners.tell(space);
    return space !== undefined;
  }

  async people(key?: string): Promise<readonly HubPerson[]> {
    return this.#all('SELECT * FROM person WHERE key = ifnull(?, key) ORDER BY key, space', key ?? null);
  }

  async addPerson(person: HubPerson, by: string): Promise<void> {
    this.#write(() => {
      if (this.#run('DELETE FROM person WHERE key = ? AND role IS NULL', person.key) > 0)
        this.#run('DELETE FROM account WHERE key = ?', person.key);
      this.#insert('person', { ...person }, 'OR REPLACE');
      this.#addAudit(auditOfPerson(person, by));
    });
    this.#tellAll();
  }

  async removePerson({ key, person }: HubName, by: string): Promise<void> {
    this.#write(() => {
      this.#run('DELETE FROM person WHERE key = ?', key);
      this.#insert('person', { key, person, space: '', role: null });
      this.#addAudit(auditOfPerson({ person, space: '', role: null }, by));
    });
    this.#tellAll();
  }

  async nameAccount(account: string, { key, person }: HubName): Promise<string | undefined> {
    return this.#write(() => {
      if (this.#insert('account', { account, key, person }, 'OR IGNORE') > 0)
        this.#addAudit({ by: person, space: '', what: 'account', subject: account, details: '{}' });
      return this.#one<{ person: string }>('SELECT person FROM account WHERE account = ?', account)?.person;
    });
  }

  async noteAudit(row: NewAudit): Promise<void> {
    this.#write(() => this.#addAudit(row));
  }

  async audit(): ReturnType<HubStore['audit']> {
    return auditOf(this.#all<AuditRow>('SELECT * FROM audit ORDER BY seq'));
  }

  async addUsage(space: string, batch: UsageBatch): Promise<boolean> {
    const { oldest, sent, counts } = rowsOfUsage(space, batch);
    return this.#write(() => {
      this.#run('DELETE FROM usage_count WHERE space = ? AND day < ?', space, oldest);
      this.#run('DELETE FROM usage_sent WHERE space = ? AND day < ?', space, oldest);
      if (this.#insert('usage_sent', sent, 'OR IGNORE') === 0) return false;
      for (const row of counts) this.#insert('usage_count', row, '', ADDED);
      return true;
    });
  }

  async usage(space: string, from: string): Promise<readonly UsedSkill[]> {
    return this.#all(USED, space, from);
  }

  async renewEpoch(): Promise<void> {
    renewEpoch(this.#database, this.#file);
  }

  onChange(listener: (space: string) => void): () => void {
    if (!this.#looking) {
      this.#version = this.#dataVersion();
      this.#looking = setInterval(() => this.#look(), LOOK_MS).unref();
    }
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    this.#database.close();
  }

  #write<T>(work: () => T): T {
    if (fileIdentity(this.#file) === this.#identity) return this.#database.transaction(work);
    // A restore has put another file there; what is written into this one would be lost.
    throw new CodedError('STORE_UNAVAILABLE', `${this.#file} was replaced while the hub ran. Start the hub again.`);
  }

  /** A command beside the hub may have changed something. */
  #look(): void {
    const version = withFallback(() => this.#dataVersion(), this.#version);
    if (version === this.#version) return;
    this.#version = version;
    this.#tellAll();
  }

  #tellAll(): void {
    for (const { space } of this.#all<{ space: string }>('SELECT space FROM token UNION SELECT name FROM space'))
      this.#listeners.tell(space);
  }

  /** Another one when another connection has changed something. */
  #dataVersion(): number {
    return this.#one<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
  }

  #one<Row>(sql: string, ...values: readonly Value[]): Row | undefined {
    return this.#database.prepare<Row>(sql).get(...values);
  }

  #all<Row>(sql: string, ...values: readonly Value[]): Row[] {
    return this.#database.prepare<Row>(sql).all(...values);
  }

  /** @returns how many rows have changed. */
  #run(sql: string, ...values: readonly Value[]): number {
    return this.#database.prepare(sql).run(...values).changes;
  }

  #insert(table: string, row: Row, otherwise = '', end = ''): number {
    const names = Object.keys(row);
    const sql = `INSERT ${otherwise} INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) ${end}`;
    return this.#run(sql, ...Object.values(row));
  }

  #proposals(where: string, ...values: readonly Value[]): readonly HubProposal[] {
    return this.#all<StoredProposal>(`SELECT * FROM proposal WHERE ${where}`, ...values).map(proposalOf);
  }

  #updateProposal(
    space: string,
    { id, edition }: Pick<HubProposal, 'id' | 'edition'>,
    fields: Partial<HubProposal>,
  ): boolean {
    const changed = proposalRow(fields);
    const sets = [...Object.keys(changed).map((name) => `${name} = ?`), 'edition = edition + 1'].join(', ');
    const sql = `UPDATE proposal SET ${sets}
      WHERE space = ? AND id = ? AND edition = ? AND state IN ('open', 'stale')`;
    return this.#run(sql, ...Object.values(changed), space, id, edition) === 1;
  }

  /** One row that every change of the space updates: a reader never sees a number before a lower one. */
  #nextNumber(space: string): number {
    const sql = `INSERT INTO space (name, head) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET head = head + 1
      RETURNING head`;
    return (this.#one<{ head: number }>(sql, space) as { head: number }).head;
  }

  /** Call it in the transaction of what it tells of. */
  #addAudit(what: NewAudit): void {
    this.#insert('audit', auditAfter(this.#one<AuditRow>('SELECT * FROM audit ORDER BY seq DESC LIMIT 1'), what));
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
export function assertWhole(file: string): void {
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
    throw new CodedError('STORE_UNAVAILABLE', `${file} is damaged, or no backup of a hub. Nothing was changed.`);
}

// --- internal ---

const SKILLS = 'SELECT seq, id, description, tags, allowed, type, digest, size, revision FROM skill';
const REVISIONS = 'SELECT number, kind, digest, type, at, by, reason, proposal, persons FROM revision';
const TOKENS = 'SELECT id, space, role, person, created, created_by, expires, last_use, revoked FROM token';
const ADDED = 'ON CONFLICT DO UPDATE SET loads = loads + excluded.loads, refused = refused + excluded.refused';
const USED = `SELECT skill_id, agent, sum(loads) AS loads, sum(refused) AS refused, count(DISTINCT machine) AS machines,
    max(day) AS last_day FROM usage_count WHERE space = ? AND day >= ?
  GROUP BY skill_id, agent ORDER BY sum(loads) DESC, skill_id, agent LIMIT 1000`;
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
