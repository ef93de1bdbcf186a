/** A failure raised on purpose: callers branch on `code`, people read `message`, tools read `details`. */
export class CodedError<Code extends string = string> extends Error {
  override readonly name = 'CodedError';
  readonly code: Code;
  /** JSON-safe facts: ids, counts, root-relative paths. Never secrets. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: Code, message: string, details: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.details = details;
  }
}

/**
 * True for a CodedError, also one made by another copy of this package: an extension may bring its own.
 *
 * @param code - When given, the error must carry exactly this code.
 */
export function isCodedError(error: unknown, code?: string): error is CodedError {
  if (!(error instanceof Error) || error.name !== 'CodedError' || !('code' in error)) return false;
  return code === undefined || error.code === code;
}

/** One line for a person: the message, led by the code when there is one. */
export function describeError(error: unknown): string {
  if (isCodedError(error)) return `${error.code}: ${error.message}`;
  if (error instanceof Error) return error.message || error.name;
  return String(error);
}
