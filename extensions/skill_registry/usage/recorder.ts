import { createHash } from 'node:crypto';
import type { TurnContext } from 'skill-registry/kernel';
import { type Snapshot, skillNamed } from '../catalog/snapshot.ts';
import type { LoadDetails, SkillLoadedEvent } from '../read/types.ts';
import type { Skill } from '../skill/skill.ts';
import { dayOf } from './since.ts';
import type { UsageEvent } from './types.ts';

/** One row of `event`; `null`: not known. */
export interface UsageRow {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly kind: UsageEvent['kind'];
  readonly skill: string;
  readonly digest: string | null;
  readonly agent: string | null;
  readonly thread: string | null;
  readonly source: string | null;
  readonly durationMs: number | null;
  readonly outcome: string;
  readonly tokens: number | null;
}

/** How often a skill was offered to an agent on a day. */
export interface OfferCount {
  readonly day: string;
  readonly skill: string;
  /** Empty: without a name. */
  readonly agent: string;
  count: number;
}

/** Recorded, but not yet written. */
export interface Unwritten {
  readonly rows: UsageRow[];
  readonly offers: Map<string, OfferCount>;
}

/** One step of a proposal, or a refused or failed request for one. */
export interface RecordedStep {
  readonly kind: 'proposal' | 'refusal' | 'failure';
  readonly skillId: string;
  readonly outcome: string;
  readonly agentId?: string | undefined;
  readonly threadId?: string | undefined;
}

/**
 * Records in memory what agents do. Every function is called during a turn, so it only adds an object to an array; none
 * throws. Nothing is recorded for a turn that only a person sees (`preview`), or for a person who reads outside a conversation.
 */
export interface UsageRecorder {
  loaded(event: SkillLoadedEvent, details: LoadDetails): void;
  /** Skills, or ids, that were named to an agent. */
  offered(skills: readonly (Skill | string)[], turn: TurnContext): void;
  /** A skill whose body is in the text of a turn. */
  given(skill: Skill, tokens: number, turn: TurnContext): void;
  step(step: RecordedStep): void;
  /** Moves all records so far into `unwritten`. @returns the new rows. */
  drain(): readonly UsageRow[];
  readonly unwritten: Unwritten;
  /** The number of records that were dropped because too many were not written. */
  dropped(): number;
}

/** @param onNoted - Called after each note. */
export function createUsageRecorder(snapshot: () => Snapshot, onNoted: () => void): UsageRecorder {
  /** Each with the snapshot of its time, because a skill may be removed before its id is looked up. */
  let noted: { readonly entry: NotedRow | NotedOffer; readonly at: Snapshot }[] = [];
  let dropped = 0;
  const unwritten: Unwritten = { rows: [], offers: new Map() };
  const note = (entry: NotedRow | NotedOffer): void => {
    if (noted.length < MAX_WAITING) noted.push({ entry, at: snapshot() });
    else dropped++;
    onNoted();
  };
  return {
    unwritten,
    loaded(event, { skill, turn, digest, tokens }) {
      const { audience, error, outcome } = event;
      if (turn?.preview || (audience === 'person' && turn === undefined)) return;
      const isFile = event.path !== undefined && event.path !== 'SKILL.md';
      const done = isFile ? 'resource' : 'load';
      note({
        time: Date.now(),
        kind: outcome === 'success' ? done : outcome === 'refused' ? 'refusal' : 'failure',
        skill: skill ?? event.skillId,
        digest: digest ?? skill?.digest ?? null,
        agent: turn?.agentId ?? null,
        thread: turn?.threadId ?? null,
        source: event.source,
        durationMs: event.durationSeconds * 1000,
        outcome: outcome === 'success' ? (audience === 'binding' ? 'given' : 'success') : (error ?? 'OTHER'),
        tokens: tokens ?? null,
      });
    },
    offered(skills, turn) {
      if (skills.length > 0 && !turn.preview) note({ time: Date.now(), offered: skills, agent: turn.agentId ?? null });
    },
    given(skill, tokens, turn) {
      if (turn.preview) return;
      const { digest, source } = skill;
      const { agentId: agent = null, threadId: thread = null } = turn;
      const time = Date.now();
      note({
        ...{ time, kind: 'load', skill, digest, agent, thread, source },
        durationMs: 0,
        outcome: 'given',
        tokens,
      });
    },
    step({ kind, skillId: skill, outcome, agentId: agent = null, threadId: thread = null }) {
      const unknown = { digest: null, source: null, durationMs: null, tokens: null };
      note({ time: Date.now(), kind, skill, agent, thread, outcome, ...unknown });
    },
    drain() {
      const entries = noted;
      noted = [];
      const rows: UsageRow[] = [];
      for (const { entry, at } of entries) {
        if ('offered' in entry) dropped += addOffers(unwritten.offers, entry, at);
        else rows.push(rowOf(entry, at));
      }
      unwritten.rows.push(...rows);
      // The oldest are dropped, because the newest are the most useful.
      dropped += unwritten.rows.splice(0, Math.max(0, unwritten.rows.length - MAX_WAITING)).length;
      return rows;
    },
    dropped: () => dropped,
  };
}

/** Maximum number of records in memory, and of rows that cannot be written. */
export const MAX_WAITING = 10_000;

/** A name of at most `MAX_NAME` characters: a longer one keeps its beginning and gets a digest, so that different names stay different. */
export function boundedName(name: string): string {
  if (name.length <= MAX_NAME) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${name.slice(0, MAX_NAME - 17).replace(/[\ud800-\udbff]$/, '')}~${digest}`;
}

// --- internal ---

/** Maximum number of different offers that cannot be written. */
const MAX_OFFERS = 50_000;
/** UTF-16 units. */
const MAX_NAME = 200;
/** An agent may request any text. Only a text that could be an id is recorded. */
const COULD_BE_ID = /^[\w@.][\w@./:-]{0,127}$/;
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;
const WORD = /^[a-z]{1,20}$/;

interface NotedRow extends Omit<UsageRow, 'skill'> {
  /** A string: the requested id of a skill that does not exist. */
  readonly skill: Skill | string;
}

interface NotedOffer {
  readonly time: number;
  readonly offered: readonly (Skill | string)[];
  readonly agent: string | null;
}

function rowOf(noted: NotedRow, snapshot: Snapshot): UsageRow {
  const { skill, agent, thread, source, outcome, durationMs } = noted;
  return {
    ...noted,
    skill: typeof skill === 'string' ? namedId(skill, snapshot) : idOf(skill, snapshot),
    agent: agent === null ? null : boundedName(agent),
    thread: thread === null ? null : boundedName(thread),
    source: source === null ? null : boundedName(source),
    durationMs: durationMs === null ? null : Math.round(durationMs * 1000) / 1000,
    // The message of an error may have a path or content in it.
    outcome: CODE.test(outcome) || WORD.test(outcome) ? outcome : 'OTHER',
  };
}

/** @returns the number of offers that were dropped. */
function addOffers(
  offers: Unwritten['offers'],
  { time, offered, agent: name }: NotedOffer,
  snapshot: Snapshot,
): number {
  let dropped = 0;
  const day = dayOf(time);
  const agent = name === null ? '' : boundedName(name);
  for (const one of offered) {
    const skill = typeof one === 'string' ? namedId(one, snapshot) : idOf(one, snapshot);
    const key = `${day}\n${skill}\n${agent}`;
    const there = offers.get(key);
    if (there) there.count++;
    else if (offers.size < MAX_OFFERS) offers.set(key, { day, skill, agent, count: 1 });
    else dropped++;
  }
  return dropped;
}

/** The same id for a skill, whether it was read by its short or its qualified id. */
function idOf({ id, qualifiedId }: Skill, { byId, byQualifiedId }: Snapshot): string {
  const own = byQualifiedId.get(qualifiedId)?.id ?? id;
  return boundedName(byId.get(own)?.qualifiedId === qualifiedId ? own : qualifiedId);
}

function namedId(asked: string, snapshot: Snapshot): string {
  const skill = skillNamed(snapshot, asked);
  return skill ? idOf(skill, snapshot) : COULD_BE_ID.test(asked) ? asked : '(invalid)';
}
