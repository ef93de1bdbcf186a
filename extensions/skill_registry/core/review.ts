/** The review page: what a feature adds to it. */

import type { CodedError, Problem } from 'skill-registry/kernel';
import type { Answer } from '../../../lib/forms/index.ts';
import type { Html, Piece } from '../../../lib/html/index.ts';
import type { SkillRegistry } from './api.ts';
import type { Finding } from './skill/guard.ts';
import type { Skill } from './skill/skill.ts';

declare module './api.ts' {
  interface SkillRegistryAdmin {
    reviewPages(): Promise<readonly ReviewPages[]>;
  }
}

/** What a person asks of a page, and what the page is made with. */
export interface ReviewRequest {
  readonly registry: SkillRegistry;
  readonly path: string;
  /** `:id` of the route. Of a skill: also a qualified id. */
  readonly id: string;
  /** The skill with this id, as it is now; undefined when it is unknown or removed. */
  readonly skill: Skill | undefined;
  /** Another part of the path that the route names. */
  param(name: string): string;
  query(name: string): string | undefined;
  /** A field of the form that was sent. @throws INVALID_ARGUMENT when it is missing */
  field(name: string): string;
  /** Undefined for a missing or blank field. */
  optional(name: string): string | undefined;
  /** All fields of this name, such as ticked boxes. */
  all(name: string): readonly string[];
  /** Who decides. The reason is the field `reason`, and names the review page. */
  readonly actor: { readonly by: string; readonly reason: string };
  form(action: string, content: Piece, attributes?: Html): Html;
  /** Tells open pages that something has changed, but not the next one of this person. */
  changed(): Promise<void>;
  /** @param work - Returns the address of the next page. @param again - Shows the page again after a refusal. */
  decide(work: Promise<string>, again: (refused: CodedError) => Answer | Promise<Answer>): Promise<Answer>;
  /** Heading and tabs of the skill. @param tab - Path of the selected one. */
  skillHead(tab: string): Html;
  /** The first page of the skill. @param refused - Why nothing was decided. */
  skillPage(refused: CodedError): Promise<Answer>;
  /** What features add to a page, by its route. @param skillId - Undefined: there is none yet. */
  partsOf(page: string, skillId: string | undefined): Promise<readonly Piece[]>;
}

/** The review page for a server that lets persons in itself. */
export interface TeamPages {
  /** @param admitted.by - `person:<name>`. @param admitted.csrf - Every form of the session sends it back. */
  answer(request: Request, admitted: { readonly by: string; readonly csrf: string }): Promise<Response>;
  close(): void;
}

export interface TeamPagesOptions {
  readonly registry: SkillRegistry;
  /** Shown at the end of each page. */
  readonly name: string;
  readonly onError: (error: Error) => void;
}

/** By route. */
type Handlers<Request> = Readonly<Record<string, (request: Request) => Answer | Promise<Answer>>>;

export interface Routes<Request> {
  readonly get?: Handlers<Request>;
  readonly post?: Handlers<Request>;
}

/** Pages of its own, and what it adds to others, each in the order of the features. */
export interface ReviewPages extends Routes<ReviewRequest> {
  readonly navigation?: readonly { readonly address: string; readonly text: string }[];
  readonly tabs?: readonly SkillTab[];
  readonly parts?: readonly PagePart[];
  /** Above the instructions of a skill. `heldBecause` is what this says, so that it is not said again. */
  aboveSkill?(
    request: ReviewRequest,
  ): Promise<{ readonly main: Piece; readonly heldBecause?: string | null | undefined }>;
  /** Name and value of each fact about a skill. */
  skillFacts?(request: ReviewRequest): Promise<readonly (readonly [string, Piece])[]>;
  /** In the catalog, after the name of a skill and after its source. */
  skillCard?(request: ReviewRequest, id: string): Promise<{ readonly tags: Piece; readonly source: string }>;
  /** What the page of a skill says, by the value of `done` in its address. */
  readonly done?: Readonly<Record<string, string>>;
  /** At lines of the files of a skill. */
  fileRemarks?(request: ReviewRequest): Promise<readonly Finding[]>;
  inbox?(request: ReviewRequest): Promise<InboxPart>;
  /** What is decided about where skills come from. */
  decisions?(request: ReviewRequest): Promise<Piece>;
  /** Problems that only a look into every file finds. */
  problemsInFiles?(): Promise<readonly Problem[]>;
  /** JSON that another process may change: asked each second while a page is open. */
  state?(registry: SkillRegistry): Promise<unknown>;
  /** Calls `changed` when something arrives. @returns a function that ends this. */
  watch?(registry: SkillRegistry, changed: () => void): () => void;
}

export interface SkillTab {
  /** Below `/skills/:id`. */
  readonly path: string;
  readonly text: string;
  /** Also for a skill that was removed, which has no other page. */
  readonly ofRemoved?: true;
}

export interface PagePart {
  /** The route of its page, such as `/skills/:id`. */
  readonly page: string;
  /** Added to the name of the tab, after `and`. */
  readonly text?: string;
  show(request: ReviewRequest, skillId: string | undefined): Promise<Piece>;
}

export interface InboxPart {
  /** Above everything: why it cannot be read, which is not that nothing waits. */
  readonly unreadable?: Piece;
  readonly title: string;
  readonly items: readonly Html[];
  /** Below everything: what a person can start. */
  readonly actions?: Piece;
  /** Above the items. */
  readonly links?: Piece;
}
