/** An expected failure: callers branch on `code`, people read `message`, programs read `details`. */
export class CodedError<Code extends string = string> extends Error {
  override readonly name = 'CodedError';
  readonly code: Code;
  /** JSON values: ids, counts, paths relative to the root. No secrets. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: Code, message: string, details: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.details = details;
  }
}

export function invalidArgument(message: string): CodedError<'INVALID_ARGUMENT'> {
  return new CodedError('INVALID_ARGUMENT', message);
}

/** True also for another copy of this package, which an extension may have. */
export function isCodedError(error: unknown, code?: string): error is CodedError {
  if (!(error instanceof Error) || error.name !== 'CodedError' || !('code' in error)) return false;
  return code === undefined || error.code === code;
}

/** For a person: `CODE: message` of a CodedError; for an error of zod, each wrong field, on one line. */
export function describeError(error: unknown): string {
  if (isCodedError(error)) return `${error.code}: ${error.message}`;
  const issues = issuesOf(error);
  if (issues.length > 0) return issues.map(describeIssue).join('; ');
  if (error instanceof Error) return error.message || error.name;
  return String(error);
}

export function withFallback<T, Fallback = undefined>(work: () => T, fallback?: Fallback): T | Fallback {
  try {
    return work();
  } catch {
    return fallback as Fallback;
  }
}

/** As `withFallback`, for a CodedError only, or for one of `code` only. */
export function unlessCoded<T, Fallback>(work: () => T, fallback: Fallback, code?: string): T | Fallback {
  try {
    return work();
  } catch (error) {
    if (isCodedError(error, code)) return fallback;
    throw error;
  }
}

// --- internal ---

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** zod's errors are recognized by shape, because an extension may have another copy of zod. */
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
