import { digestOf } from '../../../../../lib/digest/index.ts';
import { assertNoNul } from '../../proposals/propose/proposal-store.ts';
import type { AllowedFinding } from '../wire.ts';
import {
  type AuditRow,
  dayOf,
  type HubArtifact,
  type HubChange,
  type HubContent,
  type HubEvent,
  type HubName,
  type HubPerson,
  type HubProposal,
  type HubRevision,
  type HubSkill,
  type HubStore,
  type HubToken,
  type NewHubProposal,
  USAGE_DAYS,
  type UsageBatch,
  type UsedSkill,
} from './hub-store.ts';
import { insert, insertOrReplace, type Row, rows, run, type Steps, type Value } from './steps.ts';

/** Stands for what is in no space. No space has this name. */
export const EVERY_SPACE = '';

/** What both engines do by statements that both understand. */
export abstract class SqlStore implements HubStore {
  readonly #listeners = new Set<(space: string) => void>();
  /** Makes one transaction at a time add to the audit. Undefined: the engine has only one that writes. */
  protected readonly chainLock: string | undefined;

  abstract state(space: string): ReturnType<HubStore['state']>;
  abstract renewEpoch(): Promise<void>;
  abstract close(): Promise<void>;
  protected abstract read<T>(sql: string, ...values: readonly Value[]): Promise<readonly T[]>;
  /**
   * One transaction. Of two in one space the second sees what the first has done, and the space has its row.
   * @param space - Where listeners are told; null: nobody is. @param steps - Undefined: nothing was done.
   */
  protected abstract write<T>(space: string | null, steps: () => Steps<T | undefined>): Promise<T | undefined>;

  onChange(listener: (space: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  protected tell(space: string): void {
    for (const listener of this.#listeners) listener(space);
  }

  async changes(space: string, after: number, limit: number): Promise<readonly HubSkill[]> {
    const sql = `${SKILLS} WHERE space = ? AND seq > ? ORDER BY seq LIMIT ?`;
    return (await this.read<StoredSkill>(sql, space, after, limit)).map(skillOf);
  }

  async contents(space: string, after: number, limit: number): Promise<readonly HubContent[]> {
    type Stored = StoredSkill & { readonly bytes: Uint8Array | null };
    const found = await this.read<Stored>(CONTENTS, space, after, limit, MOST_BYTES);
    return found.map(({ bytes, ...skill }) => ({ ...skillOf(skill), bytes: bytes && Buffer.from(bytes) }));
  }

  async skill(space: string, id: string): Promise<HubSkill | undefined> {
    return (await this.read<StoredSkill>(`${SKILLS} WHERE space = ? AND id = ?`, space, id)).map(skillOf)[0];
  }

  async artifact(...[space, digest, whose]: Parameters<HubStore['artifact']>): ReturnType<HubStore['artifact']> {
    type Found = { readonly bytes: Uint8Array; readonly type: HubArtifact['entry']['type'] };
    const present =
      'SELECT bytes, skill.type FROM artifact JOIN skill USING (digest) WHERE space = ? AND digest = ? LIMIT 1';
    const any = `SELECT bytes, revision.type FROM artifact JOIN revision USING (digest)
      WHERE space = ? AND digest = ? AND skill_id = ? LIMIT 1`;
    const [found] =
      whose === 'present'
        ? await this.read<Found>(present, space, digest)
        : await this.read<Found>(any, space, digest, whose.skillId);
    return found && { type: found.type, bytes: Buffer.from(found.bytes) };
  }

  async revisions(space: string, skillId: string): Promise<readonly HubRevision[]> {
    type Stored = Omit<HubRevision, 'persons'> & { readonly persons: string };
    const rows = await this.read<Stored>(
      `${REVISIONS} WHERE space = ? AND skill_id = ? ORDER BY number`,
      space,
      skillId,
    );
    return rows.map(({ persons, ...row }) => ({ ...row, persons: JSON.parse(persons) }));
  }

  commit(space: string, change: HubChange): Promise<number | undefined> {
    const { skillId, artifact, allowed = [], after, kind, by, reason, persons, proposal } = change;
    const { digest = null, type = null, size = 0, description = '', tags = [] } = artifact?.entry ?? {};
    const [number, at, id] = [after + 1, now(), proposal?.id ?? null];
    const made = { space, skill_id: skillId, number, kind, digest, type, at, by, reason, proposal: id };
    const lists = { tags: JSON.stringify(tags), allowed: JSON.stringify(allowed) };
    const skill = { space, id: skillId, revision: number, digest, type, size, description, ...lists };
    const decision = { state: 'approved', decided_by: by, decided_at: at, decision_reason: reason } as const;
    const details = JSON.stringify({ revision: number, digest, reason, proposal: proposal?.id });
    const audit = this.#addAudit({ by, space, what: kind, subject: skillId, details });
    return this.write(space, function* () {
      const sql = 'SELECT max(number) AS number FROM revision WHERE space = ? AND skill_id = ?';
      const [last] = yield* rows<{ number: number | null }>(sql, space, skillId);
      // Whoever was faster has changed it.
      if ((last?.number ?? 0) !== after) return undefined;
      if (proposal) {
        const decided = { ...decision, conflict: null, revision: number };
        if (!(yield* updateProposal(space, proposal, decided))) return undefined;
        yield* addEvent(space, proposal.id, { kind: 'approved', by, content: { revision: number } });
        if (proposal.merged) yield* addEvent(space, proposal.id, { kind: 'merged', by, content: {} });
      }
      if (artifact) yield* insert('artifact', { digest, bytes: artifact.bytes }, 'ON CONFLICT DO NOTHING');
      yield* insert('revision', { ...made, persons: JSON.stringify(persons) });
      yield* insertOrReplace('skill', ['space', 'id'], { ...skill, seq: yield* nextNumber(space) });
      yield* audit;
      return number;
    });
  }

  async addProposal(space: string, proposal: NewHubProposal): Promise<HubProposal | undefined> {
    const { id, author: by, person, sent_id: sentId } = proposal;
    const row = { space, ...proposalRow(proposal) };
    const audit = this.#addAudit({ by: person, space, what: 'propose', subject: id, details: JSON.stringify({ by }) });
    let same: StoredProposal | undefined;
    await this.write(space, function* () {
      const sql = 'SELECT * FROM proposal WHERE space = ? AND person = ? AND sent_id = ?';
      [same] = yield* rows<StoredProposal>(sql, space, person, sentId);
      if (same) return undefined;
      yield* insert('proposal', row);
      yield* addEvent(space, id, { kind: 'created', by, content: {} });
      yield* audit;
      return true;
    });
    return same && proposalOf(same);
  }

  async proposal(space: string, id: string): Promise<HubProposal | undefined> {
    const sql = 'SELECT * FROM proposal WHERE space = ? AND id = ?';
    return (await this.read<StoredProposal>(sql, space, id)).map(proposalOf)[0];
  }

  async proposals(...[space, filter]: Parameters<HubStore['proposals']>): Promise<readonly HubProposal[]> {
    const { states, skillId, author, person, sentId, limit = 2 ** 31 - 1 } = filter;
    const wanted = Object.entries({ state: states, skill_id: skillId, author, person, sent_id: sentId }).flatMap(
      ([column, value]) => (value === undefined ? [] : [{ column, values: [value].flat() }]),
    );
    const conditions = wanted.map(({ column, values }) => ` AND ${column} IN (${values.map(() => '?').join(', ')})`);
    const sql = `SELECT * FROM proposal WHERE space = ?${conditions.join('')} ORDER BY seq DESC LIMIT ?`;
    const values = wanted.flatMap((one) => one.values);
    return (await this.read<StoredProposal>(sql, space, ...values, limit)).map(proposalOf);
  }

  async note(...[space, proposal, fields, event]: Parameters<HubStore['note']>): Promise<boolean> {
    const { kind: what, by, content } = event;
    const audit = this.#addAudit({ by, space, what, subject: proposal.id, details: JSON.stringify(content) });
    const isDone = await this.write(space, function* () {
      if (!(yield* updateProposal(space, proposal, fields))) return undefined;
      yield* addEvent(space, proposal.id, event);
      yield* audit;
      return true;
    });
    return isDone === true;
  }

  async events(space: string, proposalId: string): Promise<readonly HubEvent[]> {
    type Stored = Omit<HubEvent, 'content'> & { readonly content: string };
    const sql = 'SELECT kind, at, by, content FROM proposal_event WHERE space = ? AND proposal = ? ORDER BY seq';
    const found = await this.read<Stored>(sql, space, proposalId);
    return found.map(({ content, ...row }) => ({ ...row, content: JSON.parse(content) }));
  }

  async addToken(...[token, hash]: Parameters<HubStore['addToken']>): Promise<void> {
    const { id, space, role, person, created_by: by } = token;
    const details = JSON.stringify({ role, person });
    const audit = this.#addAudit({ by, space, what: 'token add', subject: id, details });
    await this.write(space, function* () {
      yield* insert('token', { ...token, hash, created: now() });
      yield* audit;
      return true;
    });
  }

  tokens(): Promise<readonly HubToken[]> {
    return this.read(`${TOKENS} ORDER BY created, id`);
  }

  async tokenOf(hash: string): Promise<HubToken | undefined> {
    const at = now();
    const [found] = await this.read<HubToken>(`${TOKENS} WHERE hash = ? AND revoked IS NULL`, hash);
    if (!found || (found.expires !== null && found.expires <= at)) return undefined;
    const minute = at.slice(0, 16);
    if (found.last_use !== minute)
      await this.write(null, () => run('UPDATE token SET last_use = ? WHERE id = ?', minute, found.id));
    return found;
  }

  async revokeToken(id: string, by: string): Promise<boolean> {
    const [token] = await this.read<{ space: string }>('SELECT space FROM token WHERE id = ?', id);
    if (!token) return false;
    const { space } = token;
    const audit = this.#addAudit({ by, space, what: 'token revoke', subject: id, details: '{}' });
    const isDone = await this.write(space, function* () {
      if ((yield* run('UPDATE token SET revoked = ? WHERE id = ? AND revoked IS NULL', now(), id)) === 0)
        return undefined;
      yield* audit;
      return true;
    });
    return isDone === true;
  }

  people(key?: string): Promise<readonly HubPerson[]> {
    return this.read('SELECT * FROM person WHERE key = coalesce(?, key) ORDER BY key, space', key ?? null);
  }

  async addPerson(person: HubPerson, by: string): Promise<void> {
    const audit = this.#addAudit(auditOfPerson('person add', person, by));
    await this.write(EVERY_SPACE, function* () {
      if ((yield* run('DELETE FROM person WHERE key = ? AND role IS NULL', person.key)) > 0)
        yield* run('DELETE FROM account WHERE key = ?', person.key);
      yield* insertOrReplace('person', ['key', 'space'], { ...person });
      yield* audit;
      return true;
    });
  }

  async removePerson(name: HubName, by: string): Promise<void> {
    const removed = { ...name, space: '', role: null };
    const audit = this.#addAudit(auditOfPerson('person remove', removed, by));
    await this.write(EVERY_SPACE, function* () {
      yield* run('DELETE FROM person WHERE key = ?', name.key);
      yield* insert('person', removed);
      yield* audit;
      return true;
    });
  }

  async nameAccount(account: string, name: HubName): Promise<string | undefined> {
    const { key, person } = name;
    const sql = 'SELECT person FROM account WHERE account = ?';
    const audit = this.#addAudit({ by: person, space: '', what: 'account', subject: account, details: '{}' });
    const [known] = await this.read<HubName>(sql, account);
    if (known) return known.person;
    return this.write(EVERY_SPACE, function* () {
      if ((yield* insert('account', { account, key, person }, 'ON CONFLICT DO NOTHING')) > 0) yield* audit;
      return (yield* rows<HubName>(sql, account))[0]?.person;
    });
  }

  async noteAudit(row: NewAudit): Promise<void> {
    await this.write(null, () => this.#addAudit(row));
  }

  async audit(): ReturnType<HubStore['audit']> {
    const all = await this.read<AuditRow>('SELECT * FROM audit ORDER BY seq');
    let last: AuditRow | undefined;
    const broken = all.find((row) => {
      const isNext = row.seq === (last?.seq ?? 0) + 1 && row.hash === hashOf(row, last?.hash ?? '');
      last = row;
      return !isNext;
    });
    return { rows: all, broken: broken?.seq };
  }

  async addUsage(space: string, { id, person, machine, counts }: UsageBatch): Promise<boolean> {
    const oldest = dayOf(USAGE_DAYS);
    const isNew = await this.write(null, function* () {
      yield* run('DELETE FROM usage_count WHERE space = ? AND day < ?', space, oldest);
      yield* run('DELETE FROM usage_sent WHERE space = ? AND day < ?', space, oldest);
      const sent = { space, person, id, day: dayOf(0) };
      if ((yield* insert('usage_sent', sent, 'ON CONFLICT DO NOTHING')) === 0) return false;
      for (const { agent = '', day, skill_id, loads, refused } of counts)
        yield* insert('usage_count', { space, day, skill_id, agent, machine, loads, refused }, ADDED);
      return true;
    });
    return isNew === true;
  }

  usage(space: string, from: string): Promise<readonly UsedSkill[]> {
    return this.read(USED, space, from);
  }

  /** One row follows another, over all spaces: the last step of a transaction. */
  *#addAudit(what: NewAudit): Steps<void> {
    if (this.chainLock) yield* rows(this.chainLock);
    const [last] = yield* rows<AuditRow>('SELECT * FROM audit ORDER BY seq DESC LIMIT 1');
    const row = { seq: (last?.seq ?? 0) + 1, at: now(), ...what };
    yield* insert('audit', { ...row, hash: hashOf(row, last?.hash ?? '') });
  }
}

// --- internal ---

type NewAudit = Parameters<HubStore['noteAudit']>[0];
type StoredProposal = Omit<HubProposal, 'editors'> & { readonly editors: string; readonly space: string };
interface StoredSkill extends Record<'description' | 'tags' | 'digest' | 'allowed', string> {
  readonly seq: number;
  readonly id: string;
  readonly type: 'skill-md' | 'archive' | null;
  readonly size: number;
  readonly revision: number;
}

const COLUMNS = 'seq, id, description, tags, allowed, type, digest, size, revision';
const SKILLS = `SELECT ${COLUMNS} FROM skill`;
const CONTENTS = `SELECT ${COLUMNS}, bytes FROM (
    SELECT few.*, sum(size) OVER (ORDER BY seq) - size AS ahead
    FROM (${SKILLS} WHERE space = ? AND seq > ? ORDER BY seq LIMIT ?) AS few
  ) AS counted LEFT JOIN artifact USING (digest) WHERE ahead < ? ORDER BY seq`;
const MOST_BYTES = 8 * 1024 * 1024;
const REVISIONS = 'SELECT number, kind, digest, type, at, by, reason, proposal, persons FROM revision';
const TOKENS = 'SELECT id, space, role, person, created, created_by, expires, last_use, revoked FROM token';
const ADDED = `ON CONFLICT (space, day, skill_id, agent, machine) DO UPDATE
  SET loads = usage_count.loads + excluded.loads, refused = usage_count.refused + excluded.refused`;
const USED = `SELECT skill_id, agent, CAST(sum(loads) AS float) AS loads, CAST(sum(refused) AS float) AS refused,
    CAST(count(DISTINCT machine) AS integer) AS machines, max(day) AS last_day
  FROM usage_count WHERE space = ? AND day >= ?
  GROUP BY skill_id, agent ORDER BY sum(loads) DESC, skill_id, agent LIMIT 1000`;

/** @returns false: it has changed meanwhile. */
function* updateProposal(
  space: string,
  { id, edition }: Pick<HubProposal, 'id' | 'edition'>,
  fields: Partial<HubProposal>,
): Steps<boolean> {
  const changed = proposalRow(fields);
  const sets = [...Object.keys(changed).map((name) => `${name} = ?`), 'edition = edition + 1'].join(', ');
  const sql = `UPDATE proposal SET ${sets}
    WHERE space = ? AND id = ? AND edition = ? AND state IN ('open', 'stale')`;
  return (yield* run(sql, ...Object.values(changed), space, id, edition)) === 1;
}

function addEvent(space: string, proposal: string, { kind, by, content }: Omit<HubEvent, 'at'>): Steps<number> {
  return insert('proposal_event', { space, proposal, kind, at: now(), by, content: JSON.stringify(content) });
}

/** One row that every change of the space updates: a reader never sees a number before a lower one. */
function* nextNumber(space: string): Steps<number> {
  const sql = 'UPDATE space SET head = head + 1 WHERE name = ? RETURNING head';
  return (yield* rows<{ head: number }>(sql, space))[0]?.head ?? 0;
}

/** UTC. */
function now(): string {
  return new Date().toISOString();
}

function skillOf({ seq, id, type, tags, allowed: found, ...entry }: StoredSkill): HubSkill {
  if (type === null) return { seq, id, entry: null };
  const listed = JSON.parse(tags) as readonly string[];
  const allowed = JSON.parse(found) as readonly AllowedFinding[];
  const given = { ...(listed.length > 0 && { tags: listed }), ...(allowed.length > 0 && { allowed }) };
  return { seq, id, entry: { id, type, ...entry, ...given } };
}

function proposalOf({ editors, space: _space, ...row }: StoredProposal): HubProposal {
  return { ...row, editors: JSON.parse(editors) };
}

/** @throws NOT_TEXT for a text with a NUL, which a database would end there. */
function proposalRow({ editors, ...fields }: Partial<HubProposal>): Row {
  const { base_bytes: _base, new_bytes: _new, ...texts } = fields;
  assertNoNul(texts);
  return { ...fields, ...(editors && { editors: JSON.stringify(editors) }) };
}

function auditOfPerson(what: string, { person, space, role }: Omit<HubPerson, 'key'>, by: string): NewAudit {
  return { by, space, what, subject: person, details: JSON.stringify({ role }) };
}

function hashOf({ seq, at, by, space, what, subject, details }: Omit<AuditRow, 'hash'>, before: string): string {
  return digestOf(JSON.stringify([before, seq, at, by, space, what, subject, details]));
}
