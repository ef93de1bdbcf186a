import { CodedError, isCodedError } from 'skill-registry/kernel';
import type { Actor, Finding, InspectedChange } from '../skill_registry/api.ts';
import { idNotTyped, invalidArgument } from './errors.ts';
import type { Review, ReviewContext } from './review.ts';

/** The recorded reason names the review page. @param reason - The person's own words. */
export function actorOf({ by }: Pick<Review, 'by'>, reason?: string): Actor & { readonly reason: string } {
  return { by, reason: reason === undefined ? DOOR : `${reason} (${DOOR})` };
}

/** Goes into a form, so that a decision about an attack is made on the very files that were shown. */
export function shownDigest({ blocks, digest }: InspectedChange): string {
  return blocks.length === 0 ? '' : String(digest);
}

/**
 * Checked here because a form may arrive without the field that the browser requires.
 * @throws ID_NOT_TYPED for a finding of level `block` when the id of the skill was not typed
 */
export function assertIdTyped(skillId: string, found: readonly Finding[], typed: string | undefined): void {
  if (found.some(({ level }) => level === 'block') && typed !== skillId.trim()) throw idNotTyped(skillId, typed);
}

/** Returns a refusal for the page; throws any other failure. */
export async function orRefusal<T>(work: Promise<T>): Promise<T | { readonly refused: CodedError }> {
  try {
    return await work;
  } catch (error) {
    if (isCodedError(error) && !error.code.endsWith('_NOT_FOUND')) return { refused: error };
    throw error;
  }
}

export function isRefused<T>(
  outcome: T | { readonly refused: CodedError },
): outcome is { readonly refused: CodedError } {
  return (
    typeof outcome === 'object' && outcome !== null && 'refused' in outcome && outcome.refused instanceof CodedError
  );
}

/** Shows the page again after a refusal; else tells open pages. @param work - Returns the address of the next page. */
export async function decision(
  context: ReviewContext,
  review: Review,
  work: Promise<string>,
  again: (refused: CodedError) => Promise<Response>,
): Promise<Response> {
  const outcome = await orRefusal(work);
  if (isRefused(outcome)) return again(outcome.refused);
  review.changed();
  return context.redirect(outcome, 303);
}

export async function fieldsOf(context: ReviewContext): Promise<{
  /** @throws INVALID_ARGUMENT when the field is missing */
  text(name: string): string;
  /** Undefined for a missing or blank field. */
  optional(name: string): string | undefined;
}> {
  const body = await context.req.parseBody();
  const fieldOf = (name: string): string | undefined => {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  return {
    text(name) {
      const value = fieldOf(name);
      if (value === undefined) throw invalidArgument(`The form has no "${name}". Reload the page and try again.`);
      return value;
    },
    optional: (name) => fieldOf(name)?.trim() || undefined,
  };
}

// --- internal ---

const DOOR = 'review page';
