import type { Context, Hono } from 'hono';
import type { TurnContext } from 'skill-registry/kernel';
import type { MarkdownReader } from '../../lib/markdown/index.ts';
import type { ReviewPages, ReviewRequest, Routes, SkillRegistry } from '../skill_registry/api.ts';

/** What every request of one server has. */
export interface Review {
  readonly registry: SkillRegistry;
  readonly features: readonly ReviewPages[];
  readonly root: string;
  /** Waiting extensions may be read: the root is approved, or their folder does not link out of it. */
  isHeldReadable(): boolean;
  /** The root is approved. */
  isTrusted(): boolean;
  readonly markdown: MarkdownReader;
  /** The agents as declared now. */
  agents(): Promise<readonly TurnContext[]>;
  /** Changes so far: a page with another count may be out of date. */
  count(): number;
  changed(): Promise<void>;
  /** Of a team: there is no root and no extension to decide about. */
  readonly isOfTeam: boolean;
}

export interface CoreRequest extends ReviewRequest, Review {}
export type CorePages = Routes<CoreRequest>;

export interface ReviewEnv {
  Variables: {
    csrf: string;
    /** `person:<name>`: whose decisions these are. */
    by: string;
  };
}

export type ReviewContext = Context<ReviewEnv>;
export type ReviewApp = Hono<ReviewEnv>;
