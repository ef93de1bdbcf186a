import { CodedError } from '../errors/index.ts';

/**
 * The origin cannot be reached, or does not exist.
 *
 * @param why - The reason, without secrets.
 * @param details.status - Of its answer; absent when there was none.
 */
export function originUnavailable(
  what: string,
  why: string,
  cause?: unknown,
  details: { readonly status?: number } = {},
): CodedError<'ORIGIN_UNAVAILABLE'> {
  const reason = why.trim();
  const end = /[.?]$/.test(reason) ? '' : '.';
  return new CodedError('ORIGIN_UNAVAILABLE', `Nothing can be taken from ${what}: ${reason}${end}`, details, cause);
}

/** The content of an origin breaks a rule for all installed content; nothing was written. */
export function originRefused(what: string, why: string): CodedError<'ORIGIN_REFUSED'> {
  return new CodedError('ORIGIN_REFUSED', `${what} is refused: ${why}`);
}
