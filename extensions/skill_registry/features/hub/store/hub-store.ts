/** What a hub keeps. Every function is one transaction, so several hubs may have one store. */
import type { HubRole } from '../../../../skill_hub/api.ts';
import type { NewProposal, ProposalRow } from '../../proposals/propose/proposal-store.ts';
import type { AllowedFinding, HubEntry, SentUsage } from '../wire.ts';

export const ROLES: readonly HubRole[] = ['reader', 'proposer', 'reviewer', 'admin'];

/** A random secret that opens one space. Only its digest is kept. */
export interface HubToken {
  /** The beginning of the digest. */
  readonly id: string;
  readonly space: string;
  readonly role: HubRole;
  /** `person:<name>`: whoever answers for what is done with it. */
  readonly person: string;
  /** ISO 8601, UTC, as every time here. */
  readonly created: string;
  readonly created_by: string;
  /** null: never. */
  readonly expires: string | null;
  /** To the minute. */
  readonly last_use: string | null;
  readonly revoked: string | null;
}

/** A person: `person:<name>`, and the same without case and blanks, by which persons are told apart. */
export interface HubName {
  readonly key: string;
  readonly person: string;
}

/** What a person without a token may. */
export interface HubPerson extends HubName {
  /** Empty for who was removed. */
  readonly space: string;
  /** null: removed from every space. */
  readonly role: HubRole | null;
}

/** A skill as it is in the feed. */
export interface HubSkill {
  /** Number of its last change; higher than that of every earlier change in the space. */
  readonly seq: number;
  readonly id: string;
  /** null: withdrawn. */
  readonly entry: HubEntry | null;
}

/** `bytes`: of the artifact; null for a skill that was withdrawn. */
export type HubContent = HubSkill & { readonly bytes: Buffer | null };

export type RevisionKind = 'published' | 'proposal' | 'rollback' | 'removed' | 'restored';

export interface HubRevision {
  readonly number: number;
  readonly kind: RevisionKind;
  /** null: the skill was withdrawn. */
  readonly digest: string | null;
  readonly type: HubEntry['type'] | null;
  readonly at: string;
  readonly by: string;
  readonly reason: string | null;
  readonly proposal: string | null;
  /** Who proposed and edited this content, and whose token brought it. */
  readonly persons: readonly string[];
}

/** `place` is the skill, `source` the space. */
export interface HubProposal
  extends NewProposal,
    Pick<ProposalRow, 'seq' | 'conflict' | 'decided_by' | 'decided_at' | 'decision_reason' | 'revision'> {
  /** Who answers for it. */
  readonly person: string;
  /** The machine's own id of it, and a digest of what was sent; null for one that was made at the hub. */
  readonly sent_id: string | null;
  readonly sent_digest: string | null;
  readonly base_bytes: Uint8Array | null;
  readonly new_bytes: Uint8Array | null;
  /** Who edited it since. */
  readonly editors: readonly string[];
  /** Counts its changes. */
  readonly edition: number;
}

export type NewHubProposal = Omit<HubProposal, 'seq' | 'edition'>;

export interface HubEvent {
  readonly kind: 'created' | 'edited' | 'recommended' | 'stale' | 'merged' | 'approved' | 'rejected';
  readonly at: string;
  readonly by: string;
  readonly content: Readonly<Record<string, unknown>>;
}

export interface HubArtifact {
  readonly entry: Omit<HubEntry, 'revision' | 'allowed'>;
  readonly bytes: Uint8Array;
}

/** The next revision of a skill. */
export interface HubChange extends Pick<HubRevision, 'kind' | 'by' | 'reason' | 'persons'> {
  readonly skillId: string;
  /** null: the skill is withdrawn. */
  readonly artifact: HubArtifact | null;
  /** What looks like an attack in it, and is allowed. Default: nothing. */
  readonly allowed?: readonly AllowedFinding[];
  /** The number of its last revision; 0 without any. */
  readonly after: number;
  /** The proposal that is approved by this. */
  readonly proposal?: Pick<HubProposal, 'id' | 'edition'> & { readonly merged: boolean };
}

export interface AuditRow {
  readonly seq: number;
  readonly at: string;
  readonly by: string;
  readonly space: string;
  readonly what: string;
  readonly subject: string;
  readonly details: string;
  /** Over the hash of the row before, and this row. */
  readonly hash: string;
}

export interface UsageBatch extends SentUsage {
  /** Whose `id` it is. It is not kept with the counts. */
  readonly person: string;
}

/** A skill with one agent; an empty name stands for those without one. */
export interface UsedSkill {
  readonly skill_id: string;
  readonly agent: string;
  readonly loads: number;
  readonly refused: number;
  readonly machines: number;
  /** UTC. */
  readonly last_day: string;
}

export interface HubStore {
  /** `epoch` is another one when the numbers may have been given before: after a restore. */
  state(space: string): Promise<{ readonly epoch: string; readonly head: number }>;
  /** Lowest number first. */
  changes(space: string, after: number, limit: number): Promise<readonly HubSkill[]>;
  /** As `changes`, with the bytes of each artifact. Of large ones fewer, but one at least. */
  contents(space: string, after: number, limit: number): Promise<readonly HubContent[]>;
  skill(space: string, id: string): Promise<HubSkill | undefined>;
  /** @param whose - `present`: only of a skill as it is now; else of any revision of this skill. */
  artifact(
    space: string,
    digest: string,
    whose: 'present' | { readonly skillId: string },
  ): Promise<{ readonly bytes: Buffer; readonly type: HubEntry['type'] } | undefined>;
  /** Oldest first. */
  revisions(space: string, skillId: string): Promise<readonly HubRevision[]>;
  /** @returns the number of the revision; undefined: skill or proposal have changed, and nothing was done. */
  commit(space: string, change: HubChange): Promise<number | undefined>;
  /** @returns the one that this person has sent under this id before; undefined: it was added. */
  addProposal(space: string, proposal: NewHubProposal): Promise<HubProposal | undefined>;
  proposal(space: string, id: string): Promise<HubProposal | undefined>;
  /** Newest first. */
  proposals(
    space: string,
    filter: {
      readonly states?: readonly HubProposal['state'][] | undefined;
      readonly skillId?: string | undefined;
      readonly author?: string | undefined;
      readonly person?: string | undefined;
      readonly sentId?: string | undefined;
      readonly limit?: number | undefined;
    },
  ): Promise<readonly HubProposal[]>;
  /** Changes a proposal that waits. @returns false: it has changed, and nothing was done. */
  note(
    space: string,
    proposal: Pick<HubProposal, 'id' | 'edition'>,
    fields: Partial<Omit<HubProposal, 'id' | 'seq' | 'edition'>>,
    event: Omit<HubEvent, 'at'>,
  ): Promise<boolean>;
  /** Oldest first. */
  events(space: string, proposalId: string): Promise<readonly HubEvent[]>;
  addToken(token: Omit<HubToken, 'created' | 'last_use' | 'revoked'>, hash: string): Promise<void>;
  tokens(): Promise<readonly HubToken[]>;
  /** Undefined also for one that is revoked or over. */
  tokenOf(hash: string): Promise<HubToken | undefined>;
  /** @returns false: there is no such valid token. */
  revokeToken(id: string, by: string): Promise<boolean>;
  /** By name, then by space. @param key - Only of this person. */
  people(key?: string): Promise<readonly HubPerson[]>;
  /** With another role where the person has one. Who was removed begins anew, with whatever account comes next. */
  addPerson(person: HubPerson, by: string): Promise<void>;
  /** From every space. */
  removePerson(name: HubName, by: string): Promise<void>;
  /** @returns the person that this account was first; undefined: the name is that of another account. */
  nameAccount(account: string, name: HubName): Promise<string | undefined>;
  noteAudit(row: Pick<AuditRow, 'by' | 'space' | 'what' | 'subject' | 'details'>): Promise<void>;
  /** Oldest first. `broken`: the first row whose hash is not that of what stands before it. */
  audit(): Promise<{ readonly rows: readonly AuditRow[]; readonly broken: number | undefined }>;
  /** Also forgets what is older than `USAGE_DAYS`. @returns false: this batch was counted before. */
  addUsage(space: string, batch: UsageBatch): Promise<boolean>;
  /** The most loaded first, at most 1,000. @param from - The first day. */
  usage(space: string, from: string): Promise<readonly UsedSkill[]>;
  /** Numbers given before mean nothing any more. */
  renewEpoch(): Promise<void>;
  /**
   * Called after whatever is changed in a space, tokens too: at once for this process, within a second for others; also
   * when nothing was changed. @returns a function that ends this.
   */
  onChange(listener: (space: string) => void): () => void;
  close(): Promise<void>;
}

/** For so long counts are kept, and ids of batches. */
export const USAGE_DAYS = 90;

/** UTC. @param ago - Days. */
export function dayOf(ago: number): string {
  return new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
}
