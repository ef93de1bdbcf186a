import { CodedError } from 'skill-registry/kernel';

/** What was given names nothing that skills can be taken from. */
export function originInvalid(what: string, why: string): CodedError<'ORIGIN_INVALID'> {
  return new CodedError('ORIGIN_INVALID', `${JSON.stringify(what.slice(0, 200))} is no origin of skills: ${why}`);
}

/** It cannot be reached, or is not there. @param why - What the other side said; nothing secret. */
export function originUnavailable(what: string, why: string, cause?: unknown): CodedError<'ORIGIN_UNAVAILABLE'> {
  const reason = why.trim().replace(/\.$/, '');
  return new CodedError('ORIGIN_UNAVAILABLE', `Skills cannot be taken from ${what}: ${reason}.`, {}, cause);
}

/** What came from there breaks a rule that everything brought in has to keep; nothing of it was written. */
export function originRefused(what: string, why: string): CodedError<'ORIGIN_REFUSED'> {
  return new CodedError('ORIGIN_REFUSED', `${what} is refused: ${why}`);
}

export function lockInvalid(file: string, why: string): CodedError<'LOCK_INVALID'> {
  return new CodedError('LOCK_INVALID', `${file} cannot be used: ${why}`);
}
