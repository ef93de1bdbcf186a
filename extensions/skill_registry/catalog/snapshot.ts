import { createHash } from 'node:crypto';
import type { Problem } from 'skill-registry/kernel';
import { eachInSteps, type Steps } from '../../../lib/breaks/index.ts';
import type { Skill } from '../skill/skill.ts';
import type { PackScopes } from '../sources/types.ts';

/**
 * The catalog at one moment. It is frozen; a refresh makes a new one. Its maps have the methods of a Map for reading, but are not
 * instances of Map: `new Map(byId)` makes one.
 */
export interface Snapshot {
  /** Increases with every change. */
  readonly version: number;
  /** One per id, in order of source, then id. */
  readonly skills: readonly Skill[];
  readonly byId: ReadonlyMap<string, Skill>;
  /** Also those that lost a collision. */
  readonly byQualifiedId: ReadonlyMap<string, Skill>;
  /** Skills of this package for its own agents, by `skill-registry:<id>`: found by that name alone, whatever the sources are. */
  readonly builtIn: ReadonlyMap<string, Skill>;
  readonly sources: readonly SourceStatus[];
  /** By the pack's id, and by the id of its source. */
  readonly packs: ReadonlyMap<string, Pack>;
  readonly problems: readonly Problem[];
}

/** A prompt pack in the catalog: its own skills by id, also when another source wins that id in the catalog. */
export interface Pack {
  readonly scopes: PackScopes;
  readonly byId: ReadonlyMap<string, Skill>;
}

/** A source, and how many skills it has. */
export interface SourceStatus {
  readonly id: string;
  readonly kind: string;
  /** The folder, absolute. */
  readonly location: string;
  /** Skills found there, those that lost a collision included. */
  readonly skills: number;
}

/** The skill with an id or a qualified id. */
export function skillNamed(
  { byId, byQualifiedId, builtIn }: Pick<Snapshot, 'byId' | 'byQualifiedId' | 'builtIn'>,
  id: string,
): Skill | undefined {
  return byId.get(id) ?? byQualifiedId.get(id) ?? builtIn.get(id);
}

/** Equal for equal catalogs: what a reader could tell apart is in it. Hashed, because it is kept. */
export function* fingerprintOf({ byQualifiedId, builtIn, packs, problems, sources }: Snapshot): Steps<string> {
  const hash = createHash('sha256');
  const add = (value: unknown): void => void hash.update(`${JSON.stringify(value)}\n`);
  for (const skills of [byQualifiedId, builtIn]) {
    yield* eachInSteps(skills, ([id, skill]) => {
      const { realFile, digest, hiddenBecause, heldBecause, disabledFor, preload } = skill;
      add([id, realFile, digest, hiddenBecause, heldBecause, disabledFor, preload, remoteEntryOf(skill)]);
    });
    add(null);
  }
  yield* eachInSteps(problems, ({ code, file, line, message }) => add([code, file, line, message]));
  const states = [...packs].map(([id, { scopes }]) => [
    id,
    scopes.entry,
    ...scopes.states,
    ...[...scopes.events].map(([state, events]) => [state, ...events]),
  ]);
  add([sources, states]);
  return hash.digest('hex');
}

/** Ids that came, went or changed. */
export function* changedIds(before: Snapshot, after: Snapshot): Steps<readonly string[]> {
  const changed = new Set<string>();
  const compare = (id: string): void => {
    const [old, now] = [before.byId.get(id), after.byId.get(id)];
    if (old !== now && stampOf(old) !== stampOf(now)) changed.add(id);
  };
  yield* eachInSteps(before.byId.keys(), compare);
  yield* eachInSteps(after.byId.keys(), (id) => {
    if (!before.byId.has(id)) compare(id);
  });
  return [...changed];
}

// --- internal ---

function stampOf(skill: Skill | undefined): string | undefined {
  if (!skill) return undefined;
  return [
    skill.qualifiedId,
    skill.digest,
    skill.hiddenBecause,
    skill.heldBecause,
    skill.disabledFor,
    remoteEntryOf(skill),
  ].join('\0');
}

/** Of a skill on another machine: what is known of it may change without the file. */
function remoteEntryOf(skill: Skill): string | undefined {
  return skill.remote ? JSON.stringify(skill) : undefined;
}
