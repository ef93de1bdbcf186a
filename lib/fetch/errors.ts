import { CodedError } from '../errors/index.ts';

/**
 * It cannot be reached, or is not there.
 *
 * @param why - What the other side said; nothing secret.
 * @param details.status - Of its answer; absent when there was none.
 */
export function originUnavailable(
  what: string,
  why: string,
  cause?: unknown,
  details: { readonly status?: number } = {},
): CodedError<'ORIGIN_UNAVAILABLE'> {
  const reason = why.trim().replace(/\.$/, '');
  return new CodedError('ORIGIN_UNAVAILABLE', `Nothing can be taken from ${what}: ${reason}.`, details, cause);
}

/** What came from there breaks a rule that everything brought in has to keep; nothing of it was written. */
export function originRefused(what: string, why: string): CodedError<'ORIGIN_REFUSED'> {
  return new CodedError('ORIGIN_REFUSED', `${what} is refused: ${why}`);
}
