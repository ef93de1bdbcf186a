import type { Context, Hono } from 'hono';
import type { TurnContext } from 'skill-registry/kernel';
import type { SkillRegistry } from '../skill_registry/api.ts';
import type { MarkdownReader } from './html/read-markdown.ts';

/** What the pages are about, and who decides on them. */
export interface Review {
  readonly registry: SkillRegistry;
  /** Absolute. */
  readonly root: string;
  /** Whether what waits below `extensions/` may be read: in a root that nobody has approved, it must not lead out of it. */
  isHeldReadable(): boolean;
  /** `person:<name>` */
  readonly by: string;
  readonly markdown: MarkdownReader;
  /** Its agents, as they are declared now. */
  agents(): Promise<readonly TurnContext[]>;
  /** How often something has changed: a page that was read at another count may be out of date. */
  count(): number;
  /** Tells open pages that something has changed. */
  changed(): void;
}

/** What the guard knows of a request. */
export interface ReviewEnv {
  Variables: {
    /** Stands in every form of this session. */
    csrf: string;
  };
}

export type ReviewContext = Context<ReviewEnv>;
export type ReviewApp = Hono<ReviewEnv>;
