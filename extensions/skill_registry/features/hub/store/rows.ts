/** What every engine of the store keeps, and what a change writes; how, an engine knows. */
import { digestOf } from '../../../../../lib/digest/index.ts';
import { assertNoNul } from '../../proposals/propose/proposal-store.ts';
import type { AllowedFinding } from '../wire.ts';
import type {
  AuditRow,
  HubChange,
  HubEvent,
  HubPerson,
  HubProposal,
  HubRevision,
  HubSkill,
  HubStore,
  HubToken,
  UsageBatch,
} from './hub-store.ts';

export type StoredRevision = Omit<HubRevision, 'persons'> & { readonly persons: string };
export type StoredProposal = Omit<HubProposal, 'editors'> & { readonly editors: string; readonly space: string };
export type StoredEvent = Omit<HubEvent, 'content'> & { readonly content: string };
export interface StoredSkill extends Record<'description' | 'tags' | 'digest' | 'allowed', string> {
  readonly seq: number;
  readonly id: string;
  readonly type: 'skill-md' | 'archive' | null;
  readonly size: number;
  readonly revision: number;
}
export type NewAudit = Omit<AuditRow, 'seq' | 'at' | 'hash'>;
export type NewToken = Omit<HubToken, 'created' | 'last_use' | 'revoked'>;
export type Value = string | number | null | Uint8Array;
export type Row = Readonly<Record<string, Value>>;

export interface RowsOfCommit {
  /** Of the proposal that is approved by it. */
  readonly decided: Partial<HubProposal>;
  readonly events: readonly Row[];
  readonly artifact: Row | null;
  readonly revision: Row;
  readonly skill: Row;
  readonly audit: NewAudit;
}

/** UTC. */
export function now(): string {
  return new Date().toISOString();
}

export function skillOf({ seq, id, type, tags, allowed: found, ...entry }: StoredSkill): HubSkill {
  if (type === null) return { seq, id, entry: null };
  const listed = JSON.parse(tags) as readonly string[];
  const allowed = JSON.parse(found) as readonly AllowedFinding[];
  const given = { ...(listed.length > 0 && { tags: listed }), ...(allowed.length > 0 && { allowed }) };
  return { seq, id, entry: { id, type, ...entry, ...given } };
}

export function revisionOf({ persons, ...row }: StoredRevision): HubRevision {
  return { ...row, persons: JSON.parse(persons) };
}

export function proposalOf({ editors, space: _space, ...row }: StoredProposal): HubProposal {
  return { ...row, editors: JSON.parse(editors) };
}

export function eventOf({ content, ...row }: StoredEvent): HubEvent {
  return { ...row, content: JSON.parse(content) };
}

/** Undefined for a token that is over. */
export function validToken(token: HubToken | undefined, at: string): HubToken | undefined {
  return token && (token.expires === null || token.expires > at) ? token : undefined;
}

/** Columns of a proposal, each with the values of which one is wanted. */
export function wantedOf({
  states,
  skillId,
  author,
  person,
  sentId,
}: Parameters<HubStore['proposals']>[1]): readonly (readonly [string, readonly string[]])[] {
  const given = { state: states, skill_id: skillId, author, person, sent_id: sentId };
  return Object.entries(given).flatMap(([column, value]) =>
    value === undefined ? [] : [[column, typeof value === 'string' ? [value] : value] as const],
  );
}

/** @throws INVALID_ARGUMENT for a text with a NUL, which a database would end there. */
export function proposalRow({ editors, ...fields }: Partial<HubProposal>): Row {
  const { base_bytes: _base, new_bytes: _new, ...texts } = fields;
  assertNoNul(texts);
  return { ...fields, ...(editors && { editors: JSON.stringify(editors) }) };
}

export function eventRow(space: string, proposal: string, { kind, by, content }: Omit<HubEvent, 'at'>): Row {
  return { space, proposal, kind, at: now(), by, content: JSON.stringify(content) };
}

/** All that a commit writes, but for the number of the change. */
export function rowsOfCommit(space: string, change: HubChange): RowsOfCommit {
  const { skillId, artifact, allowed = [], after, kind, by, reason, persons, proposal } = change;
  const [number, at] = [after + 1, now()];
  const { digest = null, type = null, size = 0, description = '', tags = [] } = artifact?.entry ?? {};
  const lists = { tags: JSON.stringify(tags), allowed: JSON.stringify(allowed) };
  const approval = { kind: 'approved', by, content: { revision: number } } as const;
  const merge = { kind: 'merged', by, content: {} } as const;
  const events = proposal ? [approval, ...(proposal.merged ? [merge] : [])] : [];
  const details = JSON.stringify({ revision: number, digest, reason, proposal: proposal?.id });
  const decision = { state: 'approved', decided_by: by, decided_at: at, decision_reason: reason } as const;
  const made = { space, skill_id: skillId, number, kind, digest, type, at, by, reason, proposal: proposal?.id ?? null };
  return {
    decided: { ...decision, conflict: null, revision: number },
    events: events.map((event) => eventRow(space, proposal?.id ?? '', event)),
    artifact: artifact && { digest, bytes: artifact.bytes },
    revision: { ...made, persons: JSON.stringify(persons) },
    skill: { space, id: skillId, revision: number, digest, type, size, description, ...lists },
    audit: { by, space, what: kind, subject: skillId, details },
  };
}

/** For so long counts are kept, and ids of batches. */
export const USAGE_DAYS = 90;

/** UTC. @param ago - Days. */
export function dayOf(ago: number): string {
  return new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
}

export function rowsOfUsage(
  space: string,
  { id, person, machine, counts }: UsageBatch,
): { readonly oldest: string; readonly sent: Row; readonly counts: readonly Row[] } {
  return {
    oldest: dayOf(USAGE_DAYS),
    sent: { space, person, id, day: dayOf(0) },
    counts: counts.map(({ agent = '', day, skill_id, loads, refused }) => {
      return { space, day, skill_id, agent, machine, loads, refused };
    }),
  };
}

export function auditOfToken({ id, space, role, person, created_by: by }: NewToken): NewAudit {
  return { by, space, what: 'token add', subject: id, details: JSON.stringify({ role, person }) };
}

export function auditOfPerson({ person, space, role }: Omit<HubPerson, 'key'>, by: string): NewAudit {
  const what = role === null ? 'person remove' : 'person add';
  return { by, space, what, subject: person, details: JSON.stringify({ role }) };
}

/** @param last - Undefined: it is the first one. */
export function auditAfter(last: Pick<AuditRow, 'seq' | 'hash'> | undefined, what: NewAudit): Row {
  const row = { seq: (last?.seq ?? 0) + 1, at: now(), ...what };
  return { ...row, hash: hashOf(row, last?.hash ?? '') };
}

export function auditOf(rows: readonly AuditRow[]): { rows: readonly AuditRow[]; broken: number | undefined } {
  let last: AuditRow | undefined;
  const broken = rows.find((row) => {
    const isNext = row.seq === (last?.seq ?? 0) + 1 && row.hash === hashOf(row, last?.hash ?? '');
    last = row;
    return !isNext;
  });
  return { rows, broken: broken?.seq };
}

/** Who is told of changes. */
export class Listeners {
  readonly #all = new Set<(space: string) => void>();

  tell(space: string): void {
    for (const listener of this.#all) listener(space);
  }

  add(listener: (space: string) => void): () => void {
    this.#all.add(listener);
    return () => void this.#all.delete(listener);
  }
}

// --- internal ---

function hashOf({ seq, at, by, space, what, subject, details }: Omit<AuditRow, 'hash'>, before: string): string {
  return digestOf(JSON.stringify([before, seq, at, by, space, what, subject, details]));
}
