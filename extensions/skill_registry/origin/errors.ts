import { CodedError } from 'skill-registry/kernel';

/** What was given names nothing that skills can be taken from. */
export function originInvalid(what: string, why: string): CodedError<'ORIGIN_INVALID'> {
  return new CodedError('ORIGIN_INVALID', `${JSON.stringify(what.slice(0, 200))} is no origin of skills: ${why}`);
}

export function lockInvalid(file: string, why: string): CodedError<'LOCK_INVALID'> {
  return new CodedError('LOCK_INVALID', `${file} cannot be used: ${why}`);
}
