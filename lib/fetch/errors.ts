import { CodedError } from '../errors/index.ts';

/** It cannot be reached, or is not there. @param why - What the other side said; nothing secret. */
export function originUnavailable(what: string, why: string, cause?: unknown): CodedError<'ORIGIN_UNAVAILABLE'> {
  const reason = why.trim().replace(/\.$/, '');
  return new CodedError('ORIGIN_UNAVAILABLE', `Nothing can be taken from ${what}: ${reason}.`, {}, cause);
}

/** What came from there breaks a rule that everything brought in has to keep; nothing of it was written. */
export function originRefused(what: string, why: string): CodedError<'ORIGIN_REFUSED'> {
  return new CodedError('ORIGIN_REFUSED', `${what} is refused: ${why}`);
}
