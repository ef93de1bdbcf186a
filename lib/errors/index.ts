/** An expected failure: callers branch on `code`, people read `message`, programs read `details`. */
export class CodedError<Code extends string = string> extends Error {
  override readonly name = 'CodedError';
  readonly code: Code;
  /** Values that JSON can hold: ids, counts, paths relative to the root. No secrets. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: Code, message: string, details: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.details = details;
  }
}

/**
 * Whether an error is a CodedError, also of another copy of this package: an extension may have its own copy.
 *
 * @param code - When given, the error must carry exactly this code.
 */
export function isCodedError(error: unknown, code?: string): error is CodedError {
  if (!(error instanceof Error) || error.name !== 'CodedError' || !('code' in error)) return false;
  return code === undefined || error.code === code;
}

/** The message for a person. The message of a CodedError begins with its code: `CODE: message`. */
export function describeError(error: unknown): string {
  if (isCodedError(error)) return `${error.code}: ${error.message}`;
  if (error instanceof Error) return error.message || error.name;
  return String(error);
}
