import { CodedError, describeError } from 'skill-registry/kernel';

/** Thrown when the server starts, or as the answer to a request. */
export type ReviewErrorCode =
  | 'ID_NOT_TYPED'
  | 'INVALID_ARGUMENT'
  | 'PAGE_NOT_FOUND'
  | 'REVIEW_LISTEN_FAILED'
  | 'SHOWN_CHANGED';

export function listenFailed(port: number, cause: unknown): CodedError<ReviewErrorCode> {
  const { code } = cause as NodeJS.ErrnoException;
  const reason = code === 'EADDRINUSE' ? 'the port is taken' : describeError(cause);
  const message = `Cannot listen on 127.0.0.1, port ${port}: ${reason}. Give another port; 0 takes a free one.`;
  return new CodedError('REVIEW_LISTEN_FAILED', message, { port }, cause);
}

export function invalidArgument(message: string): CodedError<ReviewErrorCode> {
  return new CodedError('INVALID_ARGUMENT', message);
}

export function pageNotFound(): CodedError<ReviewErrorCode> {
  return new CodedError('PAGE_NOT_FOUND', 'There is no such page.');
}

/** A finding of level `block` is allowed only by typing the id of the skill. */
export function idNotTyped(skillId: string, typed = ''): CodedError<ReviewErrorCode> {
  return new CodedError(
    'ID_NOT_TYPED',
    `A person would call this an attack, so the id of the skill has to be typed: expected ${JSON.stringify(skillId)}, and the field had ${JSON.stringify(typed)}.`,
  );
}

export function shownChanged(what: string): CodedError<ReviewErrorCode> {
  return new CodedError(
    'SHOWN_CHANGED',
    `${what} has changed since this page was shown. Nothing was done: look again.`,
  );
}
