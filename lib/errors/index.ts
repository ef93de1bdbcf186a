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

/**
 * The message for a person. The message of a CodedError begins with its code: `CODE: message`. Of what zod found, each field that is
 * wrong is named on the one line, where zod's own message is a list in JSON.
 */
export function describeError(error: unknown): string {
  if (isCodedError(error)) return `${error.code}: ${error.message}`;
  const issues = issuesOf(error);
  if (issues.length > 0) return issues.map(describeIssue).join('; ');
  if (error instanceof Error) return error.message || error.name;
  return String(error);
}

// --- internal ---

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What zod found: recognized by its shape, because an extension may have its own copy of zod. */
function issuesOf(error: unknown): readonly Issue[] {
  if (!(error instanceof Error) || !/^\$?Zod(Real)?Error$/.test(error.name)) return [];
  const { issues } = error as { readonly issues?: unknown };
  const isIssue = (one: Partial<Issue> | null): boolean => typeof one?.message === 'string' && Array.isArray(one.path);
  return Array.isArray(issues) && issues.every(isIssue) ? issues : [];
}

function describeIssue({ path, message }: Issue): string {
  const what = message.replace(/^Invalid input: /, '');
  return path.length === 0 ? what : `${path.map(String).join('.')}: ${what}`;
}
