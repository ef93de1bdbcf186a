import { randomBytes } from 'node:crypto';
import { CodedError } from 'skill-registry/kernel';
import { digestOf } from '../../../../../lib/digest/index.ts';
import { openSqlite } from '../../../../../lib/sqlite/index.ts';
import { fileIdentity, openDatabase, type SqliteDatabase, versionOf } from '../../../core/store/open-database.ts';
import { assertNoNul } from '../../proposals/propose/proposal-store.ts';
import type {
  AuditRow,
  HubChange,
  HubEvent,
  HubProposal,
  HubRevision,
  HubSkill,
  HubStore,
  HubToken,
  NewHubProposal,
} from './hub-store.ts';
import { SCHEMA } from './schema.ts';

/** For one hub. @param file - Absolute. @throws STORE_UNAVAILABLE for the file of another release. */
export function openSqliteStore(file: string): HubStore {
  const database = openDatabase(file);
  const listeners = new Set<(space: string) => void>();
  const tell = (space: string): void => {
    for (const listener of listeners) listener(space);
  };
  prepare(database, file);
  const identity = fileIdentity(file);
  const write = <T>(work: () => T): T => {
    if (fileIdentity(file) === identity) return database.transaction(work);
    // A restore has put another file there; what is written into this one would be lost.
    throw new CodedError('STORE_UNAVAILABLE', `${file} was replaced while the hub ran. Start the hub again.`);
  };
  const one = <Row>(sql: string, ...values: Values): Row | undefined => database.prepare<Row>(sql).get(...values);
  const all = <Row>(sql: string, ...values: Values): Row[] => database.prepare<Row>(sql).all(...values);
  const proposalWhere = (where: string, ...values: Values): readonly HubProposal[] =>
    all<StoredProposal>(`SELECT * FROM proposal WHERE ${where}`, ...values).map(proposalOf);
  return {
    async state(space) {
      const { epoch } = one<{ epoch: string }>('SELECT epoch FROM hub') as { epoch: string };
      const { head = 0 } = one<{ head: number }>('SELECT head FROM space WHERE name = ?', space) ?? {};
      return { epoch, head };
    },
    changes: async (space, after, limit) =>
      all<StoredSkill>(`${SKILLS} WHERE space = ? AND seq > ? ORDER BY seq LIMIT ?`, space, after, limit).map(skillOf),
    async skill(space, id) {
      const found = one<StoredSkill>(`${SKILLS} WHERE space = ? AND id = ?`, space, id);
      return found && skillOf(found);
    },
    async artifact(space, digest, whose) {
      const present = `SELECT bytes, skill.type FROM artifact JOIN skill USING (digest) WHERE space = ? AND digest = ?`;
      const any = `SELECT bytes, revision.type FROM artifact JOIN revision USING (digest)
        WHERE space = ? AND digest = ? AND skill_id = ?`;
      type Found = { readonly bytes: Uint8Array; readonly type: 'skill-md' | 'archive' };
      const found =
        whose === 'present' ? one<Found>(present, space, digest) : one<Found>(any, space, digest, whose.skillId);
      return found && { ...found, bytes: Buffer.from(found.bytes) };
    },
    revisions: async (space, skillId) =>
      all<StoredRevision>(`${REVISIONS} WHERE space = ? AND skill_id = ? ORDER BY number`, space, skillId).map(
        ({ persons, ...revision }) => ({ ...revision, persons: JSON.parse(persons) }),
      ),
    async commit(space, change) {
      const number = write(() => commit(database, space, change));
      if (number !== undefined) tell(space);
      return number;
    },
    async addProposal(space, proposal) {
      const before = write(() => {
        const { person, sent_id: sentId } = proposal;
        const [same] = proposalWhere('space = ? AND person = ? AND sent_id = ?', space, person, sentId);
        if (same) return same;
        insertProposal(database, space, proposal);
        const { id, author: by } = proposal;
        addEvent(database, space, id, { kind: 'created', by, content: {} });
        addAudit(database, { by: person, space, what: 'propose', subject: id, details: JSON.stringify({ by }) });
        return undefined;
      });
      if (!before) tell(space);
      return before;
    },
    proposal: async (space, id) => proposalWhere('space = ? AND id = ?', space, id)[0],
    async proposals(space, { states, skillId, author, person, sentId, limit }) {
      const inStates = states ? `state IN (${states.map(() => '?').join(', ')})` : 'TRUE';
      const where = `space = ? AND ${inStates} AND skill_id = ifnull(?, skill_id) AND author = ifnull(?, author)
        AND person = ifnull(?, person) AND (? IS NULL OR sent_id = ?) ORDER BY seq DESC LIMIT ?`;
      const only = [skillId ?? null, author ?? null, person ?? null, sentId ?? null, sentId ?? null];
      return proposalWhere(where, space, ...(states ?? []), ...only, limit ?? -1);
    },
    async note(space, { id, edition }, fields, event) {
      const isDone = write(() => {
        if (!updateProposal(database, space, { id, edition }, fields)) return false;
        addEvent(database, space, id, event);
        const details = JSON.stringify(event.content);
        addAudit(database, { by: event.by, space, what: event.kind, subject: id, details });
        return true;
      });
      if (isDone) tell(space);
      return isDone;
    },
    events: async (space, proposalId) =>
      all<Omit<HubEvent, 'content'> & { content: string }>(
        'SELECT kind, at, by, content FROM proposal_event WHERE space = ? AND proposal = ? ORDER BY seq',
        space,
        proposalId,
      ).map(({ content, ...event }) => ({ ...event, content: JSON.parse(content) })),
    async addToken({ id, space, role, person, created_by: by, expires }, hash) {
      write(() => {
        const sql = `INSERT INTO token (id, hash, space, role, person, created, created_by, expires)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
        database.prepare(sql).run(id, hash, space, role, person, now(), by, expires);
        addAudit(database, { by, space, what: 'token add', subject: id, details: JSON.stringify({ role, person }) });
      });
    },
    tokens: async () => all<HubToken>(`${TOKENS} ORDER BY created, id`),
    async tokenOf(hash) {
      const found = one<HubToken>(`${TOKENS} WHERE hash = ? AND revoked IS NULL`, hash);
      const at = now();
      if (!found || (found.expires !== null && found.expires <= at)) return undefined;
      const minute = at.slice(0, 16);
      if (found.last_use !== minute)
        database.prepare('UPDATE token SET last_use = ? WHERE id = ?').run(minute, found.id);
      return found;
    },
    revokeToken: async (id, by) =>
      write(() => {
        const sql = 'UPDATE token SET revoked = ? WHERE id = ? AND revoked IS NULL';
        if (database.prepare(sql).run(now(), id).changes === 0) return false;
        const space = one<{ space: string }>('SELECT space FROM token WHERE id = ?', id)?.space ?? '';
        addAudit(database, { by, space, what: 'token revoke', subject: id, details: '{}' });
        return true;
      }),
    noteAudit: async (row) => write(() => addAudit(database, row)),
    async audit() {
      const rows = all<AuditRow>('SELECT * FROM audit ORDER BY seq');
      let last: AuditRow | undefined;
      const broken = rows.find((row) => {
        const isNext = row.seq === (last?.seq ?? 0) + 1 && row.hash === hashOf(row, last?.hash ?? '');
        last = row;
        return !isNext;
      });
      return { rows, broken: broken?.seq };
    },
    renewEpoch: async () => renewEpoch(database, file),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: async () => database.close(),
  };
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
      return isOfHub && verdict === 'ok' && versionOf(database) <= VERSION;
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

type Values = readonly (string | number | null)[];

const SKILLS = 'SELECT seq, id, description, tags, type, digest, size, revision FROM skill';
const REVISIONS = 'SELECT number, kind, digest, type, at, by, reason, proposal, persons FROM revision';
const TOKENS = 'SELECT id, space, role, person, created, created_by, expires, last_use, revoked FROM token';
const VERSION = 1;

type StoredRevision = Omit<HubRevision, 'persons'> & { readonly persons: string };
type StoredProposal = Omit<HubProposal, 'editors'> & { readonly editors: string; readonly space: string };
interface StoredSkill extends Record<'description' | 'tags' | 'digest', string> {
  readonly seq: number;
  readonly id: string;
  readonly type: 'skill-md' | 'archive' | null;
  readonly size: number;
  readonly revision: number;
}

function now(): string {
  return new Date().toISOString();
}

function prepare(database: SqliteDatabase, file: string): void {
  const version = versionOf(database);
  if (version > VERSION)
    throw new CodedError('STORE_UNAVAILABLE', `${file} was written by a later release (${version}). Use that one.`);
  database.transaction(() => {
    if (versionOf(database) === 0) database.exec(`${SCHEMA}; PRAGMA user_version = ${VERSION}`);
    const found = database.prepare<{ file: string }>('SELECT file FROM hub').get();
    // A copy that was put there: its numbers may have been given before, for other changes.
    if (found?.file !== fileIdentity(file)) renewEpoch(database, file);
  });
}

function renewEpoch(database: SqliteDatabase, file: string): void {
  const sql = 'INSERT OR REPLACE INTO hub (only, epoch, file) VALUES (1, ?, ?)';
  database.prepare(sql).run(randomBytes(12).toString('hex'), fileIdentity(file));
}

function skillOf({ seq, id, type, tags, ...entry }: StoredSkill): HubSkill {
  if (type === null) return { seq, id, entry: null };
  const listed = JSON.parse(tags) as readonly string[];
  return { seq, id, entry: { id, type, ...entry, ...(listed.length > 0 && { tags: listed }) } };
}

function proposalOf({ editors, space: _space, ...row }: StoredProposal): HubProposal {
  return { ...row, editors: JSON.parse(editors) };
}

/** The caller looks at the number of the last revision: whoever was faster has changed it. */
function commit(database: SqliteDatabase, space: string, change: HubChange): number | undefined {
  const { skillId, artifact, after, kind, by, reason, persons, proposal } = change;
  const last = database
    .prepare<{ number: number }>('SELECT max(number) AS number FROM revision WHERE space = ? AND skill_id = ?')
    .get(space, skillId);
  if ((last?.number ?? 0) !== after) return undefined;
  const [number, at] = [after + 1, now()];
  if (proposal) {
    const decision = { state: 'approved', decided_by: by, decided_at: at, decision_reason: reason } as const;
    const fields = { ...decision, conflict: null, revision: number };
    if (!updateProposal(database, space, proposal, fields)) return undefined;
    addEvent(database, space, proposal.id, { kind: 'approved', by, content: { revision: number } });
    if (proposal.merged) addEvent(database, space, proposal.id, { kind: 'merged', by, content: {} });
  }
  const { digest = null, type = null, size = 0, description = '', tags = [] } = artifact?.entry ?? {};
  if (artifact)
    database.prepare('INSERT OR IGNORE INTO artifact (digest, bytes) VALUES (?, ?)').run(digest, artifact.bytes);
  database
    .prepare(`INSERT INTO revision (space, skill_id, number, kind, digest, type, at, by, reason, proposal, persons)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    .run(space, skillId, number, kind, digest, type, at, by, reason, proposal?.id ?? null, JSON.stringify(persons));
  database
    .prepare(`INSERT OR REPLACE INTO skill (space, id, seq, revision, digest, type, size, description, tags)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    .run(space, skillId, nextNumber(database, space), number, digest, type, size, description, JSON.stringify(tags));
  const details = JSON.stringify({ revision: number, digest, reason, proposal: proposal?.id });
  addAudit(database, { by, space, what: kind, subject: skillId, details });
  return number;
}

/** One row that every change of the space updates: a reader never sees a number before a lower one. */
function nextNumber(database: SqliteDatabase, space: string): number {
  const sql = `INSERT INTO space (name, head) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET head = head + 1
    RETURNING head`;
  return (database.prepare<{ head: number }>(sql).get(space) as { head: number }).head;
}

function insertProposal(database: SqliteDatabase, space: string, { editors, ...fields }: NewHubProposal): void {
  assertNoNul(withoutBytes(fields));
  const row = { space, ...fields, editors: JSON.stringify(editors) };
  const names = Object.keys(row);
  const sql = `INSERT INTO proposal (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  database.prepare(sql).run(...Object.values(row));
}

function updateProposal(
  database: SqliteDatabase,
  space: string,
  { id, edition }: Pick<HubProposal, 'id' | 'edition'>,
  { editors, ...fields }: Partial<HubProposal>,
): boolean {
  assertNoNul(withoutBytes(fields));
  const changed = { ...fields, ...(editors && { editors: JSON.stringify(editors) }) };
  const sets = [...Object.keys(changed).map((name) => `${name} = ?`), 'edition = edition + 1'].join(', ');
  const sql = `UPDATE proposal SET ${sets}
    WHERE space = ? AND id = ? AND edition = ? AND state IN ('open', 'stale')`;
  return database.prepare(sql).run(...Object.values(changed), space, id, edition).changes === 1;
}

function withoutBytes({ base_bytes: _base, new_bytes: _new, ...texts }: Partial<NewHubProposal>) {
  return texts;
}

function addEvent(
  database: SqliteDatabase,
  space: string,
  proposal: string,
  { kind, by, content }: Omit<HubEvent, 'at'>,
): void {
  const sql = 'INSERT INTO proposal_event (space, proposal, kind, at, by, content) VALUES (?, ?, ?, ?, ?, ?)';
  database.prepare(sql).run(space, proposal, kind, now(), by, JSON.stringify(content));
}

/** Call it in the transaction of what it tells of. */
function addAudit(database: SqliteDatabase, what: Omit<AuditRow, 'seq' | 'at' | 'hash'>): void {
  const last = database.prepare<AuditRow>('SELECT * FROM audit ORDER BY seq DESC LIMIT 1').get();
  const row = { seq: (last?.seq ?? 0) + 1, at: now(), ...what };
  database
    .prepare('INSERT INTO audit (seq, at, by, space, what, subject, details, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
    .run(row.seq, row.at, row.by, row.space, row.what, row.subject, row.details, hashOf(row, last?.hash ?? ''));
}

function hashOf({ seq, at, by, space, what, subject, details }: Omit<AuditRow, 'hash'>, before: string): string {
  return digestOf(JSON.stringify([before, seq, at, by, space, what, subject, details]));
}
