import type { Problem } from 'skill-registry/kernel';
import type { Skill } from '../skill/skill.ts';
import type { PackScopes } from '../sources/types.ts';

/**
 * The catalog at one moment. Nothing in it can be changed, a refresh makes a new one. Its maps are views that read like a Map and
 * are none: `new Map(byId)` makes one.
 */
export interface Snapshot {
  /** Counts up with every change. */
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

/** A prompt pack in the catalog: what it declares, by id, whoever else has won that id elsewhere. */
export interface Pack {
  readonly scopes: PackScopes;
  readonly byId: ReadonlyMap<string, Skill>;
}

/** Where skills come from, and how it stands. */
export interface SourceStatus {
  readonly id: string;
  readonly kind: string;
  /** The folder, absolute. */
  readonly location: string;
  /** Skills found there, those that lost a collision included. */
  readonly skills: number;
}

/** The skill that has an id, or a qualified one. */
export function skillNamed(
  { byId, byQualifiedId }: Pick<Snapshot, 'byId' | 'byQualifiedId'>,
  id: string,
): Skill | undefined {
  return byId.get(id) ?? byQualifiedId.get(id);
}
