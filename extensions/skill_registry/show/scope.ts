import type { TurnContext } from 'skill-registry/kernel';
import { frozen } from '../catalog/read-only.ts';
import { type Pack, type Snapshot, skillNamed } from '../catalog/snapshot.ts';
import type { Skill } from '../skill/skill.ts';
import { isNone, matchesExpression } from '../sources/kinds/pack-expression.ts';

/** Why a skill that exists is not shown to somebody. Callers answer SKILL_NOT_FOUND; only the event says more. */
export type Refusal = 'SKILL_HIDDEN' | 'SKILL_NOT_MODEL_INVOCABLE' | 'SKILL_OUT_OF_SCOPE';

/** Qualified ids of what a person has loaded in the conversation of this turn: its agent may use it whatever its bindings say. */
export type Granted = ReadonlySet<string>;

/** Which skills a person has loaded in which conversation. */
export interface Grants {
  /** Does nothing outside of a conversation. */
  add(skill: Skill, turn: TurnContext): void;
  of(turn: TurnContext): Granted;
}

/** Conversations end without saying so, so the oldest are forgotten. */
const MAX_CONVERSATIONS = 1000;
const NOTHING: Granted = new Set();
/** So many scopes of one snapshot are remembered: agents are few, and each has one. */
const MAX_SCOPES = 16;

export function createGrants(): Grants {
  const granted = new Map<string, Set<string>>();
  return {
    add({ qualifiedId }, turn) {
      if (turn.threadId === undefined) return;
      const key = conversationOf(turn);
      const skills = granted.get(key) ?? new Set();
      granted.delete(key);
      granted.set(key, skills.add(qualifiedId));
      const [oldest] = granted.keys();
      if (granted.size > MAX_CONVERSATIONS && oldest !== undefined) granted.delete(oldest);
    },
    of: (turn) => (turn.threadId === undefined ? NOTHING : (granted.get(conversationOf(turn)) ?? NOTHING)),
  };
}

/**
 * What an agent sees in a turn, in catalog order: the same array for the same snapshot and scope, because what search knows
 * of a set of skills hangs on it.
 */
export function createVisibility(snapshotNow: () => Snapshot, grants: Grants): (turn: TurnContext) => readonly Skill[] {
  const known = new Map<string, readonly Skill[]>();
  let of: Snapshot | undefined;
  return (turn) => {
    const snapshot = snapshotNow();
    if (snapshot !== of) known.clear();
    of = snapshot;
    const granted = grants.of(turn);
    const key = JSON.stringify([turn.boundSkills, turn.workflowState, [...granted]]);
    const before = known.get(key);
    if (before) return before;
    const skills = frozen(visibleSkills(snapshot, turn, granted));
    const [oldest] = known.keys();
    if (known.size >= MAX_SCOPES && oldest !== undefined) known.delete(oldest);
    known.set(key, skills);
    return skills;
  };
}

/** What an agent sees in this turn, in catalog order. */
export function visibleSkills(snapshot: Snapshot, turn: TurnContext, granted: Granted): readonly Skill[] {
  const pack = packSkills(snapshot, turn);
  const bound = bindingsOf(snapshot, turn, pack);
  const offered = pack ? [...pack.values()] : [...snapshot.skills, ...losersOf(bound, snapshot)];
  return offered.filter((skill) => refusalOf(skill, { bound, granted }, 'offer') === undefined);
}

/** What `uses_skills` means by an id: a skill of the catalog, else the one of the package. */
export function boundSkill(snapshot: Snapshot, id: string): Skill | undefined {
  return skillNamed(snapshot, id) ?? [...snapshot.builtIn.values()].find((skill) => skill.id === id);
}

/** Qualified ids of the skills whose bodies stand in the instructions of the agent. */
export function givenSkills(snapshot: Snapshot, { givenSkills: ids = [] }: TurnContext): ReadonlySet<string> {
  return new Set(ids.flatMap((id) => boundSkill(snapshot, id)?.qualifiedId ?? []));
}

/** What lies in the scope of this turn, whatever authors and gates say about models: a person may use all of it. */
export function skillsInScope(snapshot: Snapshot, turn: TurnContext): readonly Skill[] {
  const pack = packSkills(snapshot, turn);
  const bound = bindingsOf(snapshot, turn, pack);
  return [...(pack?.values() ?? snapshot.skills)].filter((skill) => bound?.has(skill.qualifiedId) ?? true);
}

/** The skill an agent means by an id in this turn, and whether it may have it. */
export function findVisible(
  snapshot: Snapshot,
  skillId: string,
  turn: TurnContext,
  granted: Granted,
): { readonly skill?: Skill; readonly refusal?: Refusal } {
  const pack = packSkills(snapshot, turn);
  const bound = bindingsOf(snapshot, turn, pack);
  // By a bare id that it is bound to elsewhere, an agent means that one.
  const own = [...(bound?.keys() ?? [])].flatMap((one) => skillNamed(snapshot, one) ?? []);
  const winner = skillNamed(snapshot, skillId);
  const isOwn = winner !== undefined && (bound?.has(winner.qualifiedId) ?? true);
  const anywhere = isOwn ? winner : (own.find(({ id }) => id === skillId) ?? winner);
  const inPack = pack?.get(skillId) ?? [...(pack?.values() ?? [])].find((skill) => skill.qualifiedId === skillId);
  const given = anywhere !== undefined && granted.has(anywhere.qualifiedId) && !isWithoutSkills(snapshot, turn);
  const skill = pack && !given ? inPack : anywhere;
  if (!skill) return anywhere ? { skill: anywhere, refusal: 'SKILL_OUT_OF_SCOPE' } : {};
  const refusal = refusalOf(skill, { bound, granted }, 'load');
  return { skill, ...(refusal ? { refusal } : {}) };
}

/** Whether the state of this turn's workflow is `none`: then nothing of any skill is shown, bodies of bound ones included. */
export function isWithoutSkills({ packs }: Snapshot, { workflowState }: TurnContext): boolean {
  const scopes = workflowState && packs.get(workflowState.pack)?.scopes;
  const state = workflowState?.state ?? scopes?.entry;
  return state !== undefined && isNone(scopes?.states.get(state));
}

// --- internal ---

/** The agent is part of it: one that is called by another does not inherit what its caller was shown. */
function conversationOf({ threadId, agentId }: TurnContext): string {
  return JSON.stringify([threadId, agentId]);
}

/** Qualified ids of what an agent is bound to, with what that requires and so on. */
type Bound = ReadonlyMap<string, 'named' | 'required'>;

interface Scope {
  /** Absent: no skill is out of scope. */
  readonly bound: Bound | undefined;
  readonly granted: Granted;
}

function refusalOf(skill: Skill, { bound, granted }: Scope, purpose: 'offer' | 'load'): Refusal | undefined {
  const given = granted.has(skill.qualifiedId);
  // What a person has loaded is used, and still not advertised against its author's word.
  if (given && (purpose === 'load' || skill.modelInvocable)) return undefined;
  const binding = bound?.get(skill.qualifiedId);
  if (bound && !binding) return 'SKILL_OUT_OF_SCOPE';
  // Its body stands in the instructions, which name its files.
  if (binding === 'named' && purpose === 'load') return undefined;
  if (!skill.modelInvocable) return 'SKILL_NOT_MODEL_INVOCABLE';
  return skill.hiddenBecause === undefined ? undefined : 'SKILL_HIDDEN';
}

/** By a bare id only the winner is meant, in a workflow also the one of its pack. */
function bindingsOf(
  snapshot: Snapshot,
  { boundSkills }: TurnContext,
  pack: Pack['byId'] | undefined,
): Bound | undefined {
  if (!boundSkills) return undefined;
  const bound = new Map<string, 'named' | 'required'>();
  const wanted = [...boundSkills];
  for (const [index, id] of wanted.entries()) {
    for (const skill of [pack?.get(id), boundSkill(snapshot, id)]) {
      if (!skill || bound.has(skill.qualifiedId)) continue;
      bound.set(skill.qualifiedId, index < boundSkills.length ? 'named' : 'required');
      // Looked at later in this very loop.
      wanted.push(...skill.requires);
    }
  }
  return bound;
}

/** An agent may be bound to a skill that lost its id elsewhere: it is offered under its qualified id. */
function losersOf(bound: Bound | undefined, snapshot: Snapshot): readonly Skill[] {
  return [...(bound?.keys() ?? [])].flatMap((id) => {
    const skill = skillNamed(snapshot, id);
    return skill && snapshot.byId.get(skill.id) !== skill ? [{ ...skill, id: skill.qualifiedId }] : [];
  });
}

/**
 * In a workflow, the skills its pack declares and its state lets through, by id; undefined outside of one. A pack or a state
 * that does not exist sees nothing: a typing error must not open everything.
 */
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
