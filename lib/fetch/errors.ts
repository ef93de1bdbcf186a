import { CodedError } from '../errors/index.ts';

/** @param details.status - Of the answer; absent when there was none. */
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

/** The content breaks a rule for installed content; nothing was written. */
export function originRefused(what: string, why: string): CodedError<'ORIGIN_REFUSED'> {
  return new CodedError('ORIGIN_REFUSED', `${what} is refused: ${why}`);
}
