/** What a hub and its machines say to each other, as JSON. Both halves read with these. */
import { z } from 'skill-registry/kernel';
import type { Finding } from '../../core/skill/guard.ts';
import { SKILL_NAME } from '../pages/page-index.ts';

/** A skill as it is now. `type` and `digest` are those of its artifact, as on a page. */
export interface HubEntry {
  readonly id: string;
  readonly description: string;
  readonly tags?: readonly string[] | undefined;
  readonly type: 'skill-md' | 'archive';
  readonly digest: string;
  /** Bytes of the artifact. */
  readonly size: number;
  readonly revision: number;
  /** What looks like an attack in this artifact, and a reviewer has allowed. Absent: nothing. */
  readonly allowed?: readonly AllowedFinding[] | undefined;
}

export type AllowedFinding = Pick<Finding, 'rule' | 'file' | 'excerpt'>;

/** Whether all of these are among what was allowed in an artifact, which says where they stand. */
export function areAllowed(findings: readonly AllowedFinding[], allowed: readonly AllowedFinding[] = []): boolean {
  const keyOf = ({ rule, file, excerpt }: AllowedFinding): string => JSON.stringify([rule, file, excerpt]);
  const known = new Set(allowed.map(keyOf));
  return findings.every((one) => known.has(keyOf(one)));
}

/** Each skill once, with the number of its last change. `entry` is null for one that was withdrawn. */
export interface HubFeed {
  readonly epoch: string;
  readonly head: number;
  readonly more: boolean;
  readonly changes: readonly { readonly seq: number; readonly id: string; readonly entry: HubEntry | null }[];
}

export interface HubHits {
  readonly hits: readonly { readonly id: string; readonly score: number }[];
  readonly provisional: boolean;
}

/** `id`: chosen by the machine, at random: sending it twice is once. */
export interface SentProposal {
  readonly id: string;
  readonly skill_id: string;
  readonly kind?: 'update' | 'create' | 'delete' | undefined;
  /** Digest of the artifact that the change is made from; absent for a new skill. */
  readonly base?: string | undefined;
  readonly path?: string | undefined;
  readonly diff?: string | undefined;
  readonly content?: string | undefined;
  readonly old_string?: string | undefined;
  readonly new_string?: string | undefined;
  readonly remove?: true | undefined;
  readonly justification: string;
  readonly evidence?: string | undefined;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
}

export interface HubReceipt {
  readonly proposal_id: string;
  readonly state: 'open' | 'stale' | 'approved' | 'rejected';
  readonly warning?: string | undefined;
}

export interface SentDecision {
  readonly decision: 'approve' | 'reject';
  /** Of the proposal that was shown. */
  readonly version: string;
  readonly reason?: string | undefined;
  readonly inspected?: string | undefined;
}

export interface SentRollback {
  readonly revision: number;
  readonly reason?: string | undefined;
  readonly inspected?: string | undefined;
}

/** How often one agent was given a skill on one day, UTC, and how often it was refused there. */
export interface UsageCount {
  readonly day: string;
  readonly skill_id: string;
  readonly agent?: string | undefined;
  readonly loads: number;
  readonly refused: number;
}

/** `id` as that of a proposal: sending it twice counts once. `machine`: random, and another one for each space. */
export interface SentUsage {
  readonly id: string;
  readonly machine: string;
  readonly counts: readonly UsageCount[];
}

export const MOST_ALLOWED = 100;
export const MOST_COUNTS = 1000;
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
export const skillId: z.ZodType<string> = z.string().regex(SKILL_NAME);
/** It is shown to agents. */
export const proposalId: z.ZodType<string> = z.string().regex(/^[\w-]{1,120}$/);

export const hubEntry: z.ZodType<HubEntry> = z.object({
  id: skillId,
  description: z.string().min(1).max(1024),
  tags: z.array(z.string().max(100)).max(32).optional(),
  type: z.enum(['skill-md', 'archive']),
  digest,
  size: z.int().min(0),
  revision: z.int().min(1),
  allowed: z
    .array(z.object({ rule: z.string().max(100), file: z.string().max(1000), excerpt: z.string().max(1000) }))
    .max(MOST_ALLOWED)
    .optional(),
});

export const hubFeed: z.ZodType<HubFeed> = z.object({
  epoch: z.string().min(1).max(100),
  head: z.int().min(0),
  more: z.boolean(),
  changes: z.array(z.object({ seq: z.int().min(1), id: skillId, entry: hubEntry.nullable() })).max(500),
});

export const hubHits: z.ZodType<HubHits> = z.object({
  hits: z.array(z.object({ id: skillId, score: z.number() })).max(200),
  provisional: z.boolean(),
});

const sentId = z.string().regex(/^[A-Za-z0-9-]{16,64}$/);
// It is shown before the person, and must not look like one.
const agent = z.string().regex(/^[A-Za-z0-9._@/-]{1,150}$/);

export const sentProposal: z.ZodType<SentProposal> = z.strictObject({
  id: sentId,
  skill_id: z.string().min(1).max(64),
  kind: z.enum(['update', 'create', 'delete']).optional(),
  base: digest.optional(),
  path: z.string().min(1).max(1000).optional(),
  diff: z.string().optional(),
  content: z.string().optional(),
  old_string: z.string().optional(),
  new_string: z.string().optional(),
  remove: z.literal(true).optional(),
  justification: z.string(),
  evidence: z.string().optional(),
  agent: agent.optional(),
  model: z.string().max(200).optional(),
});

export const hubReceipt: z.ZodType<HubReceipt> = z.object({
  proposal_id: proposalId,
  state: z.enum(['open', 'stale', 'approved', 'rejected']),
  warning: z.string().optional(),
});

export const sentDecision: z.ZodType<SentDecision> = z.strictObject({
  decision: z.enum(['approve', 'reject']),
  version: digest,
  reason: z.string().optional(),
  inspected: digest.optional(),
});

export const sentRollback: z.ZodType<SentRollback> = z.strictObject({
  revision: z.int().min(1),
  reason: z.string().optional(),
  inspected: digest.optional(),
});

const times = z.int().min(0).max(1_000_000);
const usageCount = z.strictObject({
  day: z.iso.date(),
  skill_id: skillId,
  agent: agent.optional(),
  loads: times,
  refused: times,
});

export const sentUsage: z.ZodType<SentUsage> = z.strictObject({
  id: sentId,
  machine: z.uuid(),
  counts: z.array(usageCount).min(1).max(MOST_COUNTS),
});
