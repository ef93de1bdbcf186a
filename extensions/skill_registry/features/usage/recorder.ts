import { createHash } from 'node:crypto';
import type { TurnContext } from 'skill-registry/kernel';
import type { Catalog } from '../../core/catalog/catalog.ts';
import { type Snapshot, skillNamed } from '../../core/catalog/snapshot.ts';
import type { Step } from '../../core/events.ts';
import type { LoadDetails, SkillLoadedEvent } from '../../core/read/types.ts';
import type { Skill } from '../../core/skill/skill.ts';
import type { Charge } from './loaded.ts';
import { dayOf } from './since.ts';
import type { Outcome, UsageEvent } from './types.ts';

type MayBeUnknown = 'digest' | 'agent' | 'thread' | 'client' | 'source' | 'durationMs' | 'tokens' | 'path';

/** null: not known. `time`: in milliseconds since 1970. */
export type UsageRow = Pick<UsageEvent, 'kind' | 'outcome'> & {
  readonly [Name in MayBeUnknown]: Required<UsageEvent>[Name] | null;
} & { readonly time: number; readonly skill: string };

/** What one agent has loaded in one conversation. */
export type LoadedInThread = Pick<UsageRow, 'skill' | 'digest' | 'source' | 'agent'> & { readonly thread: string };

export interface OfferCount {
  readonly day: string;
  readonly skill: string;
  /** Empty: without a name. */
  readonly agent: string;
  count: number;
}

/** A skill that fitted well what was asked in a conversation, and was offered there. */
export interface Fit {
  readonly time: number;
  readonly skill: string;
  readonly agent: string | null;
  readonly thread: string;
  /** Of the id, the name, the description or the tags of the skill: why it fitted. Between blanks. */
  readonly words: string;
  /** What was asked; null where the owner does not keep it. */
  readonly query: string | null;
}

export interface Unwritten {
  readonly rows: UsageRow[];
  readonly offers: Map<string, OfferCount>;
  /** Those that could not be written at once. */
  readonly charges?: Charge[];
  readonly fits?: Fit[];
}

/** Called during a turn: nothing waits or throws. Ignores previews and persons outside a conversation. */
export interface UsageRecorder {
  loaded(event: SkillLoadedEvent, details: LoadDetails): void;
  offered(skills: readonly (Skill | string)[], turn: TurnContext): void;
  given(skill: Skill, tokens: number, turn: TurnContext): void;
  /** What somebody said of a conversation in which these were loaded. */
  outcome(loaded: readonly LoadedInThread[], outcome: Outcome): void;
  /** Of a proposal, or a refused or failed request for one. */
  step(step: Step & { readonly kind: 'proposal' | 'refusal' | 'failure' }): void;
  readonly unwritten: Required<Unwritten>;
  /** Since the last call. */
  newRows(): readonly UsageRow[];
  /** Records dropped because too many were not written. */
  dropped(): number;
}

/** @param mayRecord - Asked before each record. @param onNoted - Called after each record. */
export function createUsageRecorder(
  catalog: Pick<Catalog, 'noted'>,
  mayRecord: () => boolean,
  onNoted: () => void,
): UsageRecorder {
  const unwritten: Required<Unwritten> = { rows: [], offers: new Map(), charges: [], fits: [] };
  const { rows, offers } = unwritten;
  const fresh: UsageRow[] = [];
  let dropped = 0;
  const note = (noted: NotedRow): void => {
    if (!mayRecord()) return;
    const row = rowOf(noted, catalog.noted);
    rows.push(row);
    if (fresh.length < MAX_WAITING) fresh.push(row);
    // The newest are the most useful.
    if (rows.length > MAX_WAITING && rows.shift()) dropped++;
    onNoted();
  };
  return {
    unwritten,
    loaded(event, { skill, turn, digest, tokens, path }) {
      const { audience, error, outcome } = event;
      if (turn?.preview || (audience === 'person' && turn === undefined)) return;
      const isFile = event.path !== undefined && event.path !== 'SKILL.md' && path !== 'SKILL.md';
      const done = isFile ? 'resource' : 'load';
      note({
        kind: outcome === 'success' ? done : outcome === 'refused' ? 'refusal' : 'failure',
        skill: skill ?? event.skillId,
        digest: digest ?? skill?.digest,
        agent: turn?.agentId,
        thread: turn?.threadId ?? turn?.connectionId,
        client: turn?.client,
        source: event.source ?? undefined,
        durationMs: event.durationSeconds * 1000,
        outcome: outcome === 'success' ? (audience === 'binding' ? 'given' : 'success') : (error ?? 'OTHER'),
        tokens,
        path: isFile && outcome !== 'refused' ? (path ?? '(missing)') : undefined,
      });
    },
    offered(skills, { preview, agentId }) {
      if (skills.length === 0 || preview || !mayRecord()) return;
      const day = dayOf(Date.now());
      const agent = boundedName(agentId ?? '');
      for (const one of skills) {
        const skill = recordedId(one, catalog.noted);
        const key = `${day}\n${skill}\n${agent}`;
        const there = offers.get(key);
        if (there) there.count++;
        else if (offers.size < MAX_OFFERS) offers.set(key, { day, skill, agent, count: 1 });
        else dropped++;
      }
      onNoted();
    },
    given(skill, tokens, turn) {
      if (turn.preview) return;
      const { digest, source } = skill;
      const [agent, thread] = [turn.agentId, turn.threadId ?? turn.connectionId];
      note({ kind: 'load', skill, digest, agent, thread, source, durationMs: 0, outcome: 'given', tokens });
    },
    step({ kind, skillId: skill, outcome, agentId: agent, threadId: thread }) {
      note({ kind, skill, outcome, agent, thread });
    },
    outcome(loaded, outcome) {
      for (const { agent, thread, ...one } of loaded)
        note({ kind: 'outcome', ...one, agent: agent ?? undefined, thread, outcome });
    },
    newRows: () => fresh.splice(0),
    dropped: () => dropped,
  };
}

export const MAX_WAITING = 10_000;

/** A longer name gets a digest, so that different names stay different. */
export function boundedName(name: string): string {
  if (name.length <= MAX_NAME) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${name.slice(0, MAX_NAME - 17).replace(/[\ud800-\udbff]$/, '')}~${digest}`;
}

/** The same for a skill read by its short or its qualified id. */
export function recordedId(one: Skill | string, snapshot: Snapshot): string {
  const skill = typeof one === 'string' ? skillNamed(snapshot, one) : one;
  if (!skill) return COULD_BE_ID.test(String(one)) ? String(one) : '(invalid)';
  const { id, qualifiedId } = skill;
  const own = snapshot.byQualifiedId.get(qualifiedId)?.id ?? id;
  return boundedName(snapshot.byId.get(own)?.qualifiedId === qualifiedId ? own : qualifiedId);
}

// --- internal ---

const MAX_OFFERS = 50_000;
const MAX_NAME = 200;
/** An agent may request any text. Only a possible id is recorded. */
const COULD_BE_ID = /^[\w@.][\w@./:-]{0,127}$/;
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;
const WORD = /^[a-z_]{1,20}$/;

type NotedRow = Pick<UsageEvent, 'kind' | 'outcome'> & {
  readonly [Name in MayBeUnknown]?: UsageRow[Name] | undefined;
} & {
  /** A string: the requested id of a skill that does not exist, or of a proposal. */
  readonly skill: Skill | string;
};

function rowOf(noted: NotedRow, snapshot: Snapshot): UsageRow {
  const { kind, skill, digest = null, outcome, durationMs, tokens = null } = noted;
  const names = [noted.agent, noted.thread, noted.client, noted.source, noted.path];
  const [agent = null, thread = null, client = null, source = null, path = null] = names.map(
    (name) => name && boundedName(name),
  );
  return {
    time: Date.now(),
    kind,
    skill: recordedId(skill, snapshot),
    digest,
    agent,
    thread,
    client,
    source,
    durationMs: durationMs == null ? null : Math.round(durationMs * 1000) / 1000,
    // An error message may contain a path or content.
    outcome: CODE.test(outcome) || WORD.test(outcome) ? outcome : 'OTHER',
    tokens,
    path,
  };
}
