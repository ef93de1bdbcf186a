import type { Problem } from 'skill-registry/kernel';
import { eachWithBreaks } from '../../../../lib/breaks/index.ts';
import { onceFor } from '../../../../lib/recent-map/index.ts';
import type { Skill } from '../skill/skill.ts';
import type { PackScopes } from '../sources/types.ts';

/** The catalog at one moment. Frozen; a refresh makes a new one. */
export interface Snapshot {
  readonly version: number;
  /** One per id, in order of source, then id. */
  readonly skills: readonly Skill[];
  readonly byId: ReadonlyMap<string, Skill>;
  /** Also skills that lost a collision. */
  readonly byQualifiedId: ReadonlyMap<string, Skill>;
  /** Skills of this package for its own agents, by `skill-registry:<id>`, the only name that finds them. */
  readonly builtIn: ReadonlyMap<string, Skill>;
  readonly sources: readonly SourceStatus[];
  /** By the pack's id, and by the id of its source. */
  readonly packs: ReadonlyMap<string, Pack>;
  readonly problems: readonly Problem[];
}

/** A prompt pack: its skills by id, also where another source has that id in the catalog. */
export interface Pack {
  readonly scopes: PackScopes;
  readonly byId: ReadonlyMap<string, Skill>;
}

export interface SourceStatus {
  readonly id: string;
  readonly kind: string;
  /** A folder or file (absolute), or the address or program of a server. */
  readonly location: string;
  /** How many, with those that lost a collision. */
  readonly skills: number;
}

export function skillNamed(
  { byId, byQualifiedId, builtIn }: Pick<Snapshot, 'byId' | 'byQualifiedId' | 'builtIn'>,
  id: string,
): Skill | undefined {
  return byId.get(id) ?? byQualifiedId.get(id) ?? builtIn.get(id);
}

/** The maps are copies, made once: changing them does not change the catalog. */
export const copyForCallers: (snapshot: Snapshot) => Snapshot = onceFor((snapshot) => {
  const { byId, byQualifiedId, builtIn, packs } = snapshot;
  // A pack has two ids; both lead to one copy.
  const packCopies = new Map([...packs.values()].map((pack) => [pack, copyOfPack(pack)]));
  return frozen({
    ...snapshot,
    byId: readOnly(new Map(byId)),
    byQualifiedId: readOnly(new Map(byQualifiedId)),
    builtIn: readOnly(new Map(builtIn)),
    packs: readOnly(new Map([...packs].map(([id, pack]) => [id, packCopies.get(pack) as Pack]))),
  });
});

/** Apart from the version. Most skills are the same objects. */
export async function isSameCatalog(before: Snapshot, after: Snapshot): Promise<boolean> {
  return (
    stampOfPacks(before) === stampOfPacks(after) &&
    (await areAlike(before.byQualifiedId.values(), after.byQualifiedId.values(), stampOf)) &&
    (await areAlike(before.builtIn.values(), after.builtIn.values(), stampOf)) &&
    (await areAlike(before.problems, after.problems, ({ code, file, line, message }) =>
      JSON.stringify([code, file, line, message]),
    ))
  );
}

export async function changedIds(before: Snapshot, after: Snapshot): Promise<readonly string[]> {
  const changed = new Set<string>();
  const compare = (id: string): void => {
    const [old, now] = [before.byId.get(id), after.byId.get(id)];
    if (old !== now && (!old || !now || stampOf(old) !== stampOf(now))) changed.add(id);
  };
  await eachWithBreaks(before.byId.keys(), compare);
  await eachWithBreaks(after.byId.keys(), (id) => {
    if (!before.byId.has(id)) compare(id);
  });
  return [...changed];
}

/** Freezes a value and everything in it. Stops at frozen parts, so they cost nothing. */
export function frozen<T extends object>(value: T): T {
  if (Object.isFrozen(value)) return value;
  Object.freeze(value);
  // `for in` makes no array of keys: there may be tens of thousands of values.
  for (const key in value) {
    const part = value[key];
    if (typeof part === 'object' && part !== null) frozen(part);
  }
  return value;
}

// --- internal ---

/** All callers share the copies, so none changes them by mistake. */
function readOnly<Key, Value>(map: Map<Key, Value>): ReadonlyMap<Key, Value> {
  for (const name of ['set', 'delete', 'clear']) Object.defineProperty(map, name, { value: refuse });
  return map;
}

function refuse(): never {
  throw new TypeError('A snapshot cannot be changed.');
}

function copyOfPack({ scopes, byId }: Pack): Pack {
  const events = new Map([...scopes.events].map(([state, next]) => [state, readOnly(new Map(next))]));
  const states = readOnly(new Map(scopes.states));
  return { scopes: { ...scopes, states, events: readOnly(events) }, byId: readOnly(new Map(byId)) };
}

async function areAlike<T>(before: Iterable<T>, after: Iterable<T>, stamp: (one: T) => string): Promise<boolean> {
  const others = before[Symbol.iterator]();
  let isSame = true;
  await eachWithBreaks(after, (one) => {
    const { done, value: other } = others.next();
    isSame &&= !done && (one === other || stamp(one) === stamp(other));
  });
  return isSame && others.next().done === true;
}

/** What is known of a skill on another machine may change without its file. */
function stampOf(skill: Skill): string {
  const { qualifiedId, realFile, digest, hiddenBecause, heldBecause, disabledFor, preload, remote } = skill;
  const known = [qualifiedId, realFile, digest, hiddenBecause, heldBecause, disabledFor, preload];
  return JSON.stringify(remote ? skill : known);
}

function stampOfPacks({ packs, sources }: Snapshot): string {
  const states = [...packs].map(([id, { scopes }]) => [
    id,
    scopes.entry,
    ...scopes.states,
    ...[...scopes.events].map(([state, events]) => [state, ...events]),
  ]);
  return JSON.stringify([sources, states]);
}
