import { createHash } from 'node:crypto';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import type { Actor, Finding } from '../skill_registry/api.ts';
import { idNotTyped, invalidArgument } from './errors.ts';
import type { Review, ReviewContext } from './review.ts';

/** The actor of a decision. Its reason names the review page. @param reason - In the words of that person. */
export function actorOf({ by }: Pick<Review, 'by'>, reason?: string): Actor & { readonly reason: string } {
  return { by, reason: reason === undefined ? DOOR : `${reason} (${DOOR})` };
}

/** A digest of the shown findings for a form, so that a decision allows only these. */
export function findingsDigest(shown: readonly Finding[]): string {
  const keys = shown.map(({ rule, file, line, excerpt }) => [rule, file, line, excerpt]);
  return createHash('sha256').update(JSON.stringify(keys)).digest('base64url');
}

/**
 * The browser asks for the field too, but a form may come without it.
 *
 * @throws ID_NOT_TYPED unless nothing would be allowed, or the person has typed the id of the skill.
 */
export function assertIdTyped(skillId: string, found: readonly Finding[], typed: string | undefined): void {
  if (found.some(({ level }) => level === 'block') && typed !== skillId.trim()) throw idNotTyped(skillId, typed);
}

/** Awaits the work of a decision. A refusal is returned for the page; any other failure is thrown. */
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

/**
 * Does what a form asks for. After a refusal the page is shown again; otherwise the browser is sent on, and open pages are told.
 *
 * @param work - Gives the address of the next page.
 */
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

/** The fields of a form; the guard has parsed it already. */
export async function fieldsOf(context: ReviewContext): Promise<{
  /** @throws INVALID_ARGUMENT when it is missing. */
  text(name: string): string;
  /** Undefined when it is missing or blank. */
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
