/** The catalog and what is in it. No code. */
import type { Problem } from 'skill-registry/kernel';
import type { SkillHeader } from './skill/parse-skill.ts';

/** One skill of the catalog. Its body stays on disk. */
export interface Skill extends SkillHeader {
  /** The directory's name: the name agents and people use. */
  readonly id: string;
  /** `<source>:<path below it>`: reaches this skill even where another one won the id. */
  readonly qualifiedId: string;
  /** Id of the source it came from. */
  readonly source: string;
  /** Absolute path of SKILL.md as it was found; of an inline skill the file it is written in. */
  readonly file: string;
  /** Real path of the directory; null for a skill without one (inline, a bare file). */
  readonly dir: string | null;
  /** Real path of SKILL.md; differs from `<dir>/SKILL.md` when that is a link. Null for an inline skill. */
  readonly realFile: string | null;
  /** `sha256:<64 hex>` over the bytes of SKILL.md. */
  readonly digest: string;
  /** Size of SKILL.md. */
  readonly bytes: number;
  /** Why models do not see it here (a gate such as a missing program); absent: they do. People can still read it. */
  readonly hiddenBecause?: string;
  /** Its body stands in every prompt. */
  readonly preload?: true;
  /** The prompt pack that declares it, and where below that pack it lies (an inline skill: its id). */
  readonly pack?: { readonly id: string; readonly path: string };
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

/** A prompt pack in the catalog: what it declares, by id, whoever else has won that id elsewhere. */
export interface Pack {
  readonly scopes: PackScopes;
  readonly byId: ReadonlyMap<string, Skill>;
}

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

/** What the states of a prompt pack's workflow may see. */
export interface PackScopes {
  /** The pack's own id. */
  readonly pack: string;
  /** The state a workflow begins in; absent without a workflow. */
  readonly entry?: string | undefined;
  /** The `skills` expression of each state; undefined: all skills of the pack. */
  readonly states: ReadonlyMap<string, string | undefined>;
}
