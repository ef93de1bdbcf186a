import type { CodedError, TurnContext } from 'skill-registry/kernel';
import { RecentMap } from '../../../../lib/recent-map/index.ts';
import { frozen, type Pack, type Snapshot, skillNamed } from '../catalog/snapshot.ts';
import { skillNotFound } from '../skill/errors.ts';
import type { Skill } from '../skill/skill.ts';
import { onceFor } from './formats.ts';
import { isNone, matchesExpression } from './pack-expression.ts';

/** Why an existing skill is refused. Callers get SKILL_NOT_FOUND; only the usage event has the reason. */
export type Refusal =
  | 'SKILL_HELD'
  | 'SKILL_DISABLED'
  | 'SKILL_HIDDEN'
  | 'SKILL_NOT_MODEL_INVOCABLE'
  | 'SKILL_OUT_OF_SCOPE';

/** Qualified ids of skills that a person has loaded in this conversation: its agent may use them, even if not bound. */
export type Granted = ReadonlySet<string>;

export interface Grants {
  add(skill: Skill, turn: TurnContext): void;
  of(turn: TurnContext): Granted;
}

/** The end of a conversation is not reported: the oldest are removed. */
const MAX_CONVERSATIONS = 1000;
const NOTHING: Granted = new Set();
/** In `uses_skills`: the agent sees all skills, beside the bound ones whose bodies are in its instructions. */
export const ALL_SKILLS = '*';
/** Scopes of one snapshot that are remembered; each agent has one. */
const MAX_SCOPES = 16;

export function createGrants(): Grants {
  const granted = new RecentMap<string, ReadonlySet<string>>(MAX_CONVERSATIONS);
  return {
    add({ qualifiedId }, turn) {
      if (turn.threadId === undefined) return;
      const key = conversationKey(turn);
      granted.set(key, new Set([...(granted.get(key) ?? []), qualifiedId]));
    },
    of: (turn) => (turn.threadId === undefined ? NOTHING : (granted.get(conversationKey(turn)) ?? NOTHING)),
  };
}

/** In catalog order. The same array for the same snapshot and scope, because search stores its data by this array. */
export function createVisibility(snapshotNow: () => Snapshot, grants: Grants): (turn: TurnContext) => readonly Skill[] {
  const seenIn = onceFor((snapshot: Snapshot) => ({
    cached: new RecentMap<string, readonly Skill[]>(MAX_SCOPES),
    limitedAgents: new Set([...snapshot.byQualifiedId.values()].flatMap(agentsWithout)),
  }));
  return (turn) => {
    const snapshot = snapshotNow();
    const { cached, limitedAgents } = seenIn(snapshot);
    const granted = grants.of(turn);
    const agent = turn.agentId !== undefined && limitedAgents.has(turn.agentId) ? turn.agentId : undefined;
    const key = JSON.stringify([turn.boundSkills, turn.workflowState, [...granted], agent]);
    const before = cached.get(key);
    if (before) return before;
    const skills = frozen(visibleSkills(snapshot, turn, granted));
    cached.set(key, skills);
    return skills;
  };
}

/** In catalog order. */
export function visibleSkills(snapshot: Snapshot, turn: TurnContext, granted: Granted): readonly Skill[] {
  const scope = scopeOf(snapshot, turn);
  return offeredSkills(snapshot, scope).filter((skill) => refusalOf(skill, scope, turn, granted) === undefined);
}

/** Why the agent gets the skill through no door, even if bound to it. */
export function heldOrDisabled({ agentId }: TurnContext, { heldBecause, disabledFor }: Skill): Refusal | undefined {
  if (heldBecause !== undefined) return 'SKILL_HELD';
  if (disabledFor === undefined) return undefined;
  const isDisabled = disabledFor === 'everyone' || (agentId !== undefined && disabledFor.includes(agentId));
  return isDisabled ? 'SKILL_DISABLED' : undefined;
}

/** As if no person had loaded a skill in this turn. */
export function offerRefusal(snapshot: Snapshot, skill: Skill, turn: TurnContext): Refusal | undefined {
  const scope = scopeOf(snapshot, turn);
  const inPack = [...(scope.pack?.values() ?? [skill])].some(({ qualifiedId }) => qualifiedId === skill.qualifiedId);
  return inPack ? refusalOf(skill, scope, turn, NOTHING) : 'SKILL_OUT_OF_SCOPE';
}

/** For an id in `uses_skills`: a skill of the catalog, else a built-in one. */
export function boundSkill(snapshot: Snapshot, id: string): Skill | undefined {
  return skillNamed(snapshot, id) ?? [...snapshot.builtIn.values()].find((skill) => skill.id === id);
}

/** Qualified ids of skills whose bodies are in the agent's instructions. */
export function givenSkills(snapshot: Snapshot, { givenSkills: ids = [] }: TurnContext): ReadonlySet<string> {
  return new Set(ids.flatMap((id) => withCopy(snapshot, boundSkill(snapshot, id))).map((skill) => skill.qualifiedId));
}

/** Skills that a person may send to the agent, also those that it does not see. */
export function skillsInScope(snapshot: Snapshot, turn: TurnContext): readonly Skill[] {
  const { pack, bound } = scopeOf(snapshot, turn);
  return [...(pack?.values() ?? snapshot.skills)].filter(
    (skill) => isInScope(skill, bound) && heldOrDisabled(turn, skill) === undefined,
  );
}

export interface Found {
  readonly skill?: Skill;
  readonly refusal?: Refusal;
}

/** The skill that an id means to the agent, and why the agent may not read it. */
export function findVisible(snapshot: Snapshot, skillId: string, turn: TurnContext, granted: Granted): Found {
  const scope = scopeOf(snapshot, turn);
  const { pack, bound } = scope;
  // The short id of a bound skill means that skill.
  const own = [...(bound?.ids ?? [])].flatMap((one) => skillNamed(snapshot, one) ?? []);
  const winner = skillNamed(snapshot, skillId);
  const isOwn = winner !== undefined && (bound?.ids.has(winner.qualifiedId) ?? true);
  const anywhere = isOwn ? winner : (own.find(({ id }) => id === skillId) ?? winner);
  const inPack = pack?.get(skillId) ?? [...(pack?.values() ?? [])].find((skill) => skill.qualifiedId === skillId);
  const given = anywhere !== undefined && granted.has(anywhere.qualifiedId) && !isWithoutSkills(snapshot, turn);
  const skill = pack && !given ? inPack : anywhere;
  if (!skill) return anywhere ? { skill: anywhere, refusal: 'SKILL_OUT_OF_SCOPE' } : {};
  const refusal = refusalOf(skill, scope, turn, granted, true);
  return { skill, ...(refusal ? { refusal } : {}) };
}

/** Its message names ids that the agent sees; without a turn, all. */
export function notVisible(
  snapshot: Snapshot,
  skillId: string,
  turn: TurnContext | undefined,
  granted: Granted,
): CodedError {
  const known = turn ? visibleSkills(snapshot, turn, granted) : snapshot.skills;
  return skillNotFound(
    skillId,
    known.map(({ id }) => id),
  );
}

/** The workflow state is `none`: no skill is shown, and no body of a bound skill. */
export function isWithoutSkills({ packs }: Snapshot, { workflowState }: TurnContext): boolean {
  const scopes = workflowState && packs.get(workflowState.pack)?.scopes;
  const state = workflowState?.state ?? scopes?.entry;
  return state !== undefined && isNone(scopes?.states.get(state));
}

/** The key contains the agent, because an agent gets neither the texts nor the loaded skills of its caller. */
export function conversationKey({ threadId, agentId }: TurnContext): string {
  return JSON.stringify([threadId, agentId]);
}

// --- internal ---

interface Bound {
  /** Qualified ids of the bound skills, and of those that they require. */
  readonly ids: ReadonlySet<string>;
  /** `uses_skills` has `*`: all other skills for models are in scope too, without their bodies. */
  readonly all: boolean;
}

interface Scope {
  /** Undefined without a workflow. */
  readonly pack: Pack['byId'] | undefined;
  /** Undefined: every skill is in scope. */
  readonly bound: Bound | undefined;
}

function scopeOf(snapshot: Snapshot, turn: TurnContext): Scope {
  const pack = packSkills(snapshot, turn);
  return { pack, bound: bindingsOf(snapshot, turn, pack) };
}

function offeredSkills(snapshot: Snapshot, { pack, bound }: Scope): readonly Skill[] {
  return pack ? [...pack.values()] : [...underOwnIds(snapshot, bound), ...losersOf(bound, snapshot)];
}

function agentsWithout({ disabledFor = [] }: Skill): readonly string[] {
  return disabledFor === 'everyone' ? [] : disabledFor;
}

function refusalOf(
  skill: Skill,
  scope: Scope,
  turn: TurnContext,
  granted: Granted,
  isLoad = false,
): Refusal | undefined {
  const { bound } = scope;
  const restriction = heldOrDisabled(turn, skill);
  if (restriction) return restriction;
  const given = granted.has(skill.qualifiedId);
  // A skill that a person has loaded may be read; it is listed only if its author lets models see it.
  if (given && (isLoad || skill.modelInvocable)) return undefined;
  if (!isInScope(skill, bound)) return 'SKILL_OUT_OF_SCOPE';
  // The instructions contain its body, which names its files, or a body that requires this skill.
  if (isLoad && bound?.ids.has(skill.qualifiedId)) return undefined;
  if (!skill.modelInvocable) return 'SKILL_NOT_MODEL_INVOCABLE';
  return skill.hiddenBecause === undefined ? undefined : 'SKILL_HIDDEN';
}

function isInScope({ qualifiedId }: Skill, bound: Bound | undefined): boolean {
  return bound === undefined || bound.all || bound.ids.has(qualifiedId);
}

/** A short id means the winner of the id, in a workflow also the skill of its pack. */
function bindingsOf(snapshot: Snapshot, { boundSkills }: TurnContext, pack: Scope['pack']): Bound | undefined {
  if (!boundSkills) return undefined;
  const ids = new Set<string>();
  const named = boundSkills.filter((id) => id !== ALL_SKILLS);
  for (const id of named) {
    for (const skill of [...[pack?.get(id) ?? []].flat(), ...withCopy(snapshot, boundSkill(snapshot, id))]) {
      if (ids.has(skill.qualifiedId)) continue;
      ids.add(skill.qualifiedId);
      // This loop visits them too.
      named.push(...skill.requires);
    }
  }
  return { ids, all: boundSkills.includes(ALL_SKILLS) };
}

/** With its copy in the catalog when both are the same file: built-in skills may also be in a source of the root. */
function withCopy({ byId }: Snapshot, skill: Skill | undefined): readonly Skill[] {
  const shown = skill && byId.get(skill.id);
  return [skill ?? [], shown && shown !== skill && isSameFile(shown, skill) ? shown : []].flat();
}

function isSameFile(one: Skill, other: Skill): boolean {
  return one.realFile !== null && one.realFile === other.realFile;
}

/** A skill whose short id means another skill to this agent is listed by qualified id. */
function underOwnIds(snapshot: Snapshot, bound: Bound | undefined): readonly Skill[] {
  if (!bound?.all) return snapshot.skills;
  const taken = new Set([...bound.ids].flatMap((id) => skillNamed(snapshot, id)?.id ?? []));
  return snapshot.skills.map((skill) =>
    taken.has(skill.id) && !bound.ids.has(skill.qualifiedId) ? { ...skill, id: skill.qualifiedId } : skill,
  );
}

/** Bound skills whose id another skill has, by qualified id. */
function losersOf(bound: Bound | undefined, snapshot: Snapshot): readonly Skill[] {
  return [...(bound?.ids ?? [])].flatMap((id) => {
    const skill = skillNamed(snapshot, id);
    const winner = skill && snapshot.byId.get(skill.id);
    if (!skill || winner === skill || (winner && isSameFile(winner, skill))) return [];
    return [{ ...skill, id: skill.qualifiedId }];
  });
}

/** Undefined without a workflow. Empty for an unknown pack or state: a typing error must not show all skills. */
function packSkills({ packs }: Snapshot, { workflowState }: TurnContext): ReadonlyMap<string, Skill> | undefined {
  if (!workflowState) return undefined;
  const pack = packs.get(workflowState.pack);
  if (!pack) return new Map();
  const { entry, states } = pack.scopes;
  const state = workflowState.state ?? entry;
  if (state !== undefined && !states.has(state)) return new Map();
  const expression = state === undefined ? undefined : states.get(state);
  return new Map([...pack.byId].filter(([, skill]) => matchesExpression(expression, skill)));
}
