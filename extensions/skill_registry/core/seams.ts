/** What features add to the core, which names none. */
import type { Command, ExtensionContext, Problem, Tool, TurnContext } from 'skill-registry/kernel';
import type { Z } from '../../../lib/arguments/index.ts';
import type { ServedPrompt, ServedTool, SkillRegistry, SkillRegistryAdmin } from './api.ts';
import type { Snapshot } from './catalog/snapshot.ts';
import type { ConfigPart } from './config/config-keys.ts';
import type { KeptQueries } from './events.ts';
import type { Meter } from './read/types.ts';
import type { ReviewPages } from './review.ts';
import type { Elsewhere } from './search/hits.ts';
import type { Meaning } from './search/types.ts';
import type { Narrowed } from './show/visible.ts';
import type { Guard } from './skill/guard.ts';
import type { Profile } from './skill/profile.ts';
import type { SourceDecisions, SourceKind } from './sources/source-kind.ts';
import type { CachePart } from './store/cache.ts';

/** What a feature gives to every registry. */
export interface GivenByFeature {
  /** Its tables in cache.db. */
  readonly cache?: readonly CachePart[];
  readonly sources?: readonly SourceKind[];
  /** Values of `validation`. */
  readonly profiles?: readonly Profile[];
  /** What people decided about sources. At most one feature has it. */
  readonly decisions?: SourceDecisions;
  readonly config?: ConfigPart;
  /** Whether skills were installed into a folder of agents (absolute): then it may be written. At most one has it. */
  readonly installedInto?: (root: string) => (folder: string) => boolean;
}

/** What a feature adds to one registry. */
export interface Opened<Part = unknown> {
  /** For the features that need it. */
  readonly part?: Part;
  readonly registry?: Partial<SkillRegistry>;
  readonly admin?: Partial<SkillRegistryAdmin>;
  readonly tools?: Readonly<Record<string, MakeTool>>;
  /** Tools that are served to programs outside, beside those of the core. */
  readonly servedTools?: readonly ServedTool[];
  /** Tools that agents of the kernel have beside those of `config.tools`. */
  readonly agentTools?: readonly string[];
  /** For a door that knows the agent, beside the prompts of skills. */
  readonly prompts?: (turn: TurnContext) => readonly ServedPrompt[];
  /** For conversations. */
  readonly commands?: (registry: SkillRegistry) => readonly Command[];
  /** Exactly one feature gives it. */
  readonly guard?: Guard;
  readonly meaning?: Meaning;
  /** At most one feature gives it. */
  readonly elsewhere?: Elsewhere;
  /** At most one feature gives it. */
  readonly meter?: Meter;
  /** Where the owner keeps them. Only a person at this machine may see one. At most one feature gives it. */
  readonly keptQueries?: KeptQueries;
  readonly turns?: Turns;
  readonly reviewPages?: () => Promise<ReviewPages>;
  readonly connect?: (kernel: Pick<ExtensionContext, 'events' | 'notifyUser'>) => void;
  /** Lines that a person reads when a conversation begins. */
  readonly news?: () => Promise<readonly string[]>;
  readonly problems?: () => readonly Problem[];
  /** @returns true where others than the skills that have changed may be held now. */
  readonly beforeScan?: () => Promise<unknown>;
  /** Called when every feature is open. */
  readonly recover?: () => Promise<void>;
  /** Called when watching begins, and after each change of the catalog. */
  readonly catchUp?: (signal: AbortSignal) => Promise<unknown>;
  /** Runs as long as the registry watches. */
  readonly background?: (signal: AbortSignal) => Promise<void>;
  readonly close?: () => void | Promise<void>;
}

/** Tools find everything that the registry and its `admin` have. */
export type ToolRegistry = SkillRegistry & SkillRegistryAdmin;
export type MakeTool = (registry: ToolRegistry, z: Z) => Tool;

/** What is known of a conversation beyond its turn. */
export interface Turns {
  /** The turn with what was left to its conversation; the same object without any. */
  at(turn: TurnContext): TurnContext;
  /** Fewer skills than its agent is bound to. */
  narrow(turn: TurnContext, snapshot: Snapshot): Narrowed | undefined;
  /** A paragraph for the end of its prompt. */
  text(turn: TurnContext): string | undefined;
}
