import type { Problem } from 'skill-registry/kernel';
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
  { byId, byQualifiedId }: Pick<Snapshot, 'byId' | 'byQualifiedId'>,
  id: string,
): Skill | undefined {
  return byId.get(id) ?? byQualifiedId.get(id);
}
