import type { Context, Hono } from 'hono';
import type { TurnContext } from 'skill-registry/kernel';
import type { MarkdownReader } from '../../lib/markdown/index.ts';
import type { SkillRegistry } from '../skill_registry/api.ts';

/** What all pages need: the registry, and the person who decides. */
export interface Review {
  readonly registry: SkillRegistry;
  /** Absolute. */
  readonly root: string;
  /** Whether waiting extensions may be read: in a root that nobody has approved, their folder must not be a link out of the root. */
  isHeldReadable(): boolean;
  /** Whether the root is approved. */
  isTrusted(): boolean;
  /** `person:<name>` */
  readonly by: string;
  readonly markdown: MarkdownReader;
  /** Its agents, as they are declared now. */
  agents(): Promise<readonly TurnContext[]>;
  /** The number of changes so far: a page with another count may be out of date. */
  count(): number;
  /** Tells open pages that something has changed. */
  changed(): void;
}

/** What the guard stores with a request. */
export interface ReviewEnv {
  Variables: {
    /** The token in every form of this session. */
    csrf: string;
  };
}

export type ReviewContext = Context<ReviewEnv>;
export type ReviewApp = Hono<ReviewEnv>;
