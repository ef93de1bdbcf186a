import { CodedError, isCodedError } from '../errors/index.ts';

/** What a page can say is `refused`; any other failure is thrown. */
export async function orRefusal<T>(
  work: Promise<T>,
): Promise<{ readonly value: T; readonly refused?: never } | { readonly refused: CodedError; readonly value?: never }> {
  try {
    return { value: await work };
  } catch (error) {
    if (isCodedError(error) && !error.code.endsWith('_NOT_FOUND')) return { refused: error };
    throw error;
  }
}

export function invalidArgument(message: string): CodedError {
  return new CodedError('INVALID_ARGUMENT', message);
}

export function pageNotFound(): CodedError {
  return new CodedError('PAGE_NOT_FOUND', 'There is no such page.');
}

export function shownChanged(what: string): CodedError {
  return new CodedError(
    'SHOWN_CHANGED',
    `${what} has changed since this page was shown. Nothing was done: look again.`,
  );
}
