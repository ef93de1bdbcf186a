import type { CodedError, TurnContext } from 'skill-registry/kernel';
import { onceFor, RecentMap } from '../../../../lib/recent-map/index.ts';
import { frozen, type Snapshot, skillNamed } from '../catalog/snapshot.ts';
import type { AgentConfig, SkillRegistryConfig } from '../config/config.ts';
import { skillNotFound } from '../skill/errors.ts';
import type { Skill } from '../skill/skill.ts';
import { type Conversations, NOTHING } from './loaded-by-person.ts';
import type { AgentView, SkillVisibility } from './types.ts';

/** Why an existing skill is refused. Callers get SKILL_NOT_FOUND; only the usage event has the reason. */
export type Refusal =
  | 'SKILL_HELD'
  | 'SKILL_DISABLED'
  | 'SKILL_HIDDEN'
  | 'SKILL_NOT_MODEL_INVOCABLE'
  | 'SKILL_OUT_OF_SCOPE';

/** In `uses_skills`: the agent sees all skills, beside the bound ones whose bodies are in its instructions. */
export const ALL_SKILLS = '*';
/** Scopes of one snapshot that are remembered; agents that see the same share one. */
const MAX_SCOPES = 64;

/** What a feature leaves of the skills of a turn. */
export interface Narrowed {
  /** The same text for the same skills of one snapshot. */
  readonly key: string;
  /** By the id that the agent uses for it. */
  only(): ReadonlyMap<string, Skill>;
  /** Not even what the agent is bound to, or what a person has loaded. */
  readonly nothing: boolean;
}

export interface Found {
  readonly skill?: Skill;
  readonly refusal?: Refusal;
}

/** Which skills of the present snapshot a turn may see. */
export interface Scopes {
  /** In catalog order. The same array for the same snapshot and scope, because search stores its data by this array. */
  visible(turn: TurnContext): readonly Skill[];
  /** Skills that a person may send to the agent, also those that it does not see. */
  forPerson(turn: TurnContext): readonly Skill[];
  /** The skill that an id means to the agent, and why the agent may not read it. */
  find(skillId: string, turn: TurnContext): Found;
  /** Its message names ids that the agent sees; without a turn, all. */
  notFound(skillId: string, turn: TurnContext | undefined): CodedError;
  /** As if no person had loaded a skill in this turn. */
  offerRefusal(skill: Skill, turn: TurnContext): Refusal | undefined;
  /** Undefined where no feature leaves less of the skills. */
  narrowed(turn: TurnContext): Narrowed | undefined;
  /** With what `agents` of the config says of its agent, whatever the caller said; the same object for any other. */
  declared(turn: TurnContext): TurnContext;
}

/** @param narrow - Asks the features. @param agents - Of the config. */
export function createScopes(
  snapshotNow: () => Snapshot,
  { granted: grantedIn }: Pick<Conversations, 'granted'>,
  narrow: (turn: TurnContext, snapshot: Snapshot) => Narrowed | undefined,
  agents: SkillRegistryConfig['agents'],
): Scopes {
  const seenIn = onceFor((snapshot: Snapshot) => ({
    cached: new RecentMap<string, readonly Skill[]>(MAX_SCOPES),
    ofAgent: onceFor((agent: AgentConfig) => namedBySource(agent, snapshot)),
    limitedAgents: new Set([...snapshot.byQualifiedId.values()].flatMap(({ disabledFor = [] }) => disabledFor)),
  }));
  const agentOf = ({ agentId = '' }: TurnContext): AgentConfig | undefined =>
    Object.hasOwn(agents, agentId) ? agents[agentId] : undefined;
  const declared = (turn: TurnContext): TurnContext => {
    const agent = agentOf(turn);
    if (!agent) return turn;
    const { skills: boundSkills, workflow: own } = agent;
    const workflowState = own && own.pack !== turn.workflowState?.pack ? own : turn.workflowState;
    return { ...turn, boundSkills, ...(workflowState && { workflowState }) };
  };
  const inSources = (turn: TurnContext, snapshot: Snapshot): ReadonlySet<string> => {
    const agent = agentOf(turn);
    return agent ? seenIn(snapshot).ofAgent(agent) : NOTHING;
  };
  const scopeOf = (given: TurnContext, granted = grantedIn(given)): Scope => {
    const turn = declared(given);
    const snapshot = snapshotNow();
    const narrowed = narrow(turn, snapshot);
    const only = narrowed?.only();
    return {
      snapshot,
      turn,
      granted,
      only,
      nothing: narrowed?.nothing ?? false,
      bound: bindingsOf(snapshot, turn, only, inSources(turn, snapshot)),
    };
  };
  const visible = (given: TurnContext): readonly Skill[] => {
    const turn = declared(given);
    const snapshot = snapshotNow();
    const { cached, limitedAgents } = seenIn(snapshot);
    const agent = turn.agentId !== undefined && limitedAgents.has(turn.agentId) ? turn.agentId : undefined;
    const { sources, tags } = agentOf(turn) ?? {};
    const narrowed = narrow(turn, snapshot)?.key;
    const key = JSON.stringify([turn.boundSkills, sources, tags, narrowed, [...grantedIn(turn)], agent]);
    const before = cached.get(key);
    if (before) return before;
    const scope = scopeOf(turn);
    const { only, bound } = scope;
    const offered = only ? [...only.values()] : [...underOwnIds(snapshot, bound), ...losersOf(bound, snapshot)];
    const skills = frozen(offered.filter((skill) => refusalOf(skill, scope) === undefined));
    cached.set(key, skills);
    return skills;
  };
  return {
    visible,
    forPerson(turn) {
      const { snapshot, only, bound } = scopeOf(turn);
      return [...(only?.values() ?? snapshot.skills)].filter(
        (skill) => isInScope(skill, bound) && heldOrDisabled(turn, skill) === undefined,
      );
    },
    find: (skillId, turn) => findVisible(skillId, scopeOf(turn)),
    notFound(skillId, turn) {
      const known = turn ? visible(turn) : snapshotNow().skills;
      return skillNotFound(
        skillId,
        known.map(({ id }) => id),
      );
    },
    offerRefusal(skill, turn) {
      const scope = scopeOf(turn, NOTHING);
      const isLeft = [...(scope.only?.values() ?? [skill])].some(
        ({ qualifiedId }) => qualifiedId === skill.qualifiedId,
      );
      return isLeft ? refusalOf(skill, scope) : 'SKILL_OUT_OF_SCOPE';
    },
    narrowed: (turn) => narrow(declared(turn), snapshotNow()),
    declared,
  };
}

/** Why the agent gets the skill through no door, even if bound to it. */
export function heldOrDisabled({ agentId }: TurnContext, { heldBecause, disabledFor }: Skill): Refusal | undefined {
  if (heldBecause !== undefined) return 'SKILL_HELD';
  if (disabledFor === undefined) return undefined;
  const isDisabled = disabledFor === 'everyone' || (agentId !== undefined && disabledFor.includes(agentId));
  return isDisabled ? 'SKILL_DISABLED' : undefined;
}

/** For an id in `uses_skills`: a skill of the catalog, else a built-in one. */
export function boundSkill(snapshot: Snapshot, id: string): Skill | undefined {
  return skillNamed(snapshot, id) ?? [...snapshot.builtIn.values()].find((skill) => skill.id === id);
}

/** Qualified ids of skills whose bodies are in the agent's instructions. */
export function givenSkills(snapshot: Snapshot, { givenSkills: ids = [] }: TurnContext): ReadonlySet<string> {
  return new Set(ids.flatMap((id) => withCopy(snapshot, boundSkill(snapshot, id))).map((skill) => skill.qualifiedId));
}

/** @param agents - Each with what it is bound to. */
export function whoSees(
  snapshot: Snapshot,
  agents: readonly TurnContext[],
  { declared, offerRefusal }: Pick<Scopes, 'declared' | 'offerRefusal'>,
): readonly SkillVisibility[] {
  const winners = new Set(snapshot.skills);
  // A file that two sources have is one skill.
  const files = new Set(snapshot.skills.map(({ realFile }) => realFile));
  const losers = [...snapshot.byQualifiedId.values()].filter((skill) => {
    if (winners.has(skill) || (skill.realFile !== null && files.has(skill.realFile))) return false;
    files.add(skill.realFile);
    return true;
  });
  const turns: readonly TurnContext[] = [{}, ...agents.map(declared)];
  return [...snapshot.skills, ...losers].map((skill) => {
    const isLoser = !winners.has(skill);
    const views = turns.map((turn): AgentView => {
      const refusal = offerRefusal(skill, turn);
      const isBound = turn.boundSkills !== undefined;
      const because = refusal ? REASONS[refusal](skill) : isLoser && !isBound ? TAKEN : undefined;
      return { agent: turn.agentId ?? null, ...(because === undefined ? {} : { because }) };
    });
    return { skill, isLoser, views };
  });
}

// --- internal ---

interface Bound {
  /** Qualified ids of the bound skills, and of those that they require. */
  readonly ids: ReadonlySet<string>;
  /** Qualified ids of skills that the config names by source or tag. They bring no others, and show nothing hidden. */
  readonly inSources: ReadonlySet<string>;
  /** `uses_skills` has `*`: all other skills for models are in scope too, without their bodies. */
  readonly all: boolean;
}

interface Scope {
  readonly snapshot: Snapshot;
  readonly turn: TurnContext;
  readonly granted: ReadonlySet<string>;
  /** Undefined: not narrowed. */
  readonly only: ReadonlyMap<string, Skill> | undefined;
  readonly nothing: boolean;
  /** Undefined: every skill is in scope. */
  readonly bound: Bound | undefined;
}

function findVisible(skillId: string, scope: Scope): Found {
  const { snapshot, granted, only, nothing, bound } = scope;
  // The short id of a bound skill means that skill.
  const winner = skillNamed(snapshot, skillId);
  const isOwn = winner !== undefined && (bound === undefined || isNamed(winner, bound));
  const own = isOwn ? [] : namedIn(bound).flatMap((one) => skillNamed(snapshot, one) ?? []);
  const anywhere = own.find(({ id }) => id === skillId) ?? winner;
  const left = only?.get(skillId) ?? [...(only?.values() ?? [])].find((skill) => skill.qualifiedId === skillId);
  const given = anywhere !== undefined && granted.has(anywhere.qualifiedId) && !nothing;
  const skill = only && !given ? left : anywhere;
  if (!skill) return anywhere ? { skill: anywhere, refusal: 'SKILL_OUT_OF_SCOPE' } : {};
  const refusal = refusalOf(skill, scope, true);
  return { skill, ...(refusal ? { refusal } : {}) };
}

function refusalOf(skill: Skill, { turn, granted, bound }: Scope, isLoad = false): Refusal | undefined {
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

function isInScope(skill: Skill, bound: Bound | undefined): boolean {
  return bound === undefined || bound.all || isNamed(skill, bound);
}

function isNamed({ qualifiedId }: Skill, { ids, inSources }: Bound): boolean {
  return ids.has(qualifiedId) || inSources.has(qualifiedId);
}

function namedIn(bound: Bound | undefined): readonly string[] {
  return bound ? [...new Set([...bound.ids, ...bound.inSources])] : [];
}

/** A tag counts only in a source that the config names for it, because the author of a skill writes its tags. */
function namedBySource({ sources, tags }: AgentConfig, { byQualifiedId }: Snapshot): ReadonlySet<string> {
  const isNamedHere = ({ source, tags: own }: Skill): boolean =>
    sources.includes(source) || (Object.hasOwn(tags, source) && own.some((tag) => tags[source]?.includes(tag)));
  return new Set([...byQualifiedId].flatMap(([id, skill]) => (isNamedHere(skill) ? id : [])));
}

/** A short id means the winner of the id, and also the skill that a feature has left under it. */
function bindingsOf(
  snapshot: Snapshot,
  { boundSkills }: TurnContext,
  only: Scope['only'],
  inSources: Bound['inSources'],
): Bound | undefined {
  if (!boundSkills) return undefined;
  const ids = new Set<string>();
  const named = boundSkills.filter((id) => id !== ALL_SKILLS);
  for (const id of named) {
    for (const skill of [...[only?.get(id) ?? []].flat(), ...withCopy(snapshot, boundSkill(snapshot, id))]) {
      if (ids.has(skill.qualifiedId)) continue;
      ids.add(skill.qualifiedId);
      // This loop visits them too.
      named.push(...skill.requires);
    }
  }
  return { ids, inSources, all: boundSkills.includes(ALL_SKILLS) };
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
  return namedIn(bound).flatMap((id) => {
    const skill = skillNamed(snapshot, id);
    const winner = skill && snapshot.byId.get(skill.id);
    const isListed = skill && winner && isSameFile(winner, skill) && isInScope(winner, bound);
    if (!skill || winner === skill || isListed) return [];
    return [{ ...skill, id: skill.qualifiedId }];
  });
}

const TAKEN = 'another skill has its id; it is read by its qualified id';

const REASONS: Readonly<Record<Refusal, (skill: Skill) => string>> = {
  SKILL_HELD: ({ heldBecause = '' }) => `held: ${heldBecause}`,
  SKILL_DISABLED: () => 'disabled in the config',
  SKILL_HIDDEN: ({ hiddenBecause = '' }) => hiddenBecause,
  SKILL_NOT_MODEL_INVOCABLE: () => 'it hides itself from models (disable-model-invocation)',
  SKILL_OUT_OF_SCOPE: () => 'not among the skills that the agent is bound to (uses_skills, or agents in the config)',
};
