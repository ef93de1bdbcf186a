import { createHash } from 'node:crypto';
import { CodedError, isCodedError } from 'skill-registry/kernel';
import type { Actor, Finding } from '../skill_registry/api.ts';
import type { Review } from './review.ts';

/** Who decides, and by which door: histories and lists of decisions show it. @param reason - In the words of that person. */
export function actorOf({ by }: Pick<Review, 'by'>, reason?: string): Actor & { readonly reason: string } {
  return { by, reason: reason === undefined ? DOOR : `${reason} (${DOOR})` };
}

/** Stands in a form, so that nobody allows what another page would have shown. */
export function digestOf(shown: readonly Finding[]): string {
  const keys = shown.map(({ rule, file, line, excerpt }) => [rule, file, line, excerpt]);
  return createHash('sha256').update(JSON.stringify(keys)).digest('base64url');
}

/** What a person did was not done, with the reason for the page; other failures are thrown. */
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

// --- internal ---

const DOOR = 'review page';
