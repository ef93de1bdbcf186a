import { CodedError } from '../errors/index.ts';

/** Checks a value that a caller gave, and gives the value to use. @throws INVALID_ARGUMENT: what was expected, and what arrived. */
export type ArgumentCheck = (value: unknown, name: string) => unknown;

export const text: ArgumentCheck = (value, name) => {
  if (typeof value === 'string') return value;
  throw wrong(name, 'a text', value);
};

/** A text in whole characters: half of a surrogate pair could not be stored. */
export const wellFormedText: ArgumentCheck = (value, name) => {
  const given = text(value, name) as string;
  // In this mode only half of a pair is a surrogate.
  if (!/\p{Cs}/u.test(given)) return given;
  const got = 'got one with half of a surrogate pair';
  throw new CodedError('INVALID_ARGUMENT', `${name} must be a text in whole characters, ${got}.`);
};

export const integer: ArgumentCheck = (value, name) => {
  if (Number.isSafeInteger(value)) return value;
  throw wrong(name, 'a whole number', value);
};

export const bool: ArgumentCheck = (value, name) => {
  if (typeof value === 'boolean') return value;
  throw wrong(name, 'true or false', value);
};

export const aFunction: ArgumentCheck = (value, name) => {
  if (typeof value === 'function') return value;
  throw wrong(name, 'a function', value);
};

export const aSignal: ArgumentCheck = (value, name) => {
  if (value instanceof AbortSignal) return value;
  throw wrong(name, 'an AbortSignal', value);
};

export const anything: ArgumentCheck = (value) => value;

export function optional(check: ArgumentCheck): ArgumentCheck {
  return (value, name) => (value === undefined ? undefined : check(value, name));
}

export function oneOf(...values: readonly unknown[]): ArgumentCheck {
  return (value, name) => {
    if (values.includes(value)) return value;
    throw wrong(name, values.map((one) => JSON.stringify(one)).join(', '), value);
  };
}

/** The first check that accepts the value decides. @param expected - For the message: `a text or a number`. */
export function either(expected: string, ...checks: readonly ArgumentCheck[]): ArgumentCheck {
  return (value, name) => {
    for (const check of checks) {
      try {
        return check(value, name);
      } catch {
        // The next one.
      }
    }
    throw wrong(name, expected, value);
  };
}

export function listOf(check: ArgumentCheck): ArgumentCheck {
  return (value, name) => {
    if (!Array.isArray(value)) throw wrong(name, 'a list', value);
    return value.map((one, at) => check(one, `${name}[${at}]`));
  };
}

/** An object whose values are of one kind. */
export function recordOf(check: ArgumentCheck): ArgumentCheck {
  return (value, name) =>
    Object.fromEntries(Object.entries(asObject(value, name)).map(([key, one]) => [key, check(one, `${name}.${key}`)]));
}

/** An object. The result is a copy, so that each field is read once: a getter may give something else later. Other fields are kept. */
export function fields(checks: Readonly<Record<string, ArgumentCheck>>): ArgumentCheck {
  return (value, name) => {
    const given = asObject(value, name);
    const found: Record<string, unknown> = {};
    for (const key of new Set([...keysOf(given, name), ...Object.keys(checks)])) {
      const read = readField(given, key, name);
      const one = Object.hasOwn(checks, key) ? checks[key]?.(read, `${name}.${key}`) : read;
      if (one !== undefined) found[key] = one;
    }
    return found;
  };
}

/** A check with a further condition. @param expected - For the message. */
export function refine(check: ArgumentCheck, expected: string, accepts: (value: never) => boolean): ArgumentCheck {
  return (value, name) => {
    const checked = check(value, name);
    if (accepts(checked as never)) return checked;
    throw wrong(name, expected, value);
  };
}

/** Checks the arguments of one call. @param checks - By the name of the argument. */
export function checkCall(
  called: string,
  checks: Readonly<Record<string, ArgumentCheck>>,
  given: readonly unknown[],
): unknown[] {
  return Object.entries(checks).map(([name, check], at) => check(given[at], `${called}: ${name}`));
}

// --- internal ---

const MAX_SHOWN = 80;

function wrong(name: string, expected: string, value: unknown): CodedError<'INVALID_ARGUMENT'> {
  return new CodedError('INVALID_ARGUMENT', `${name} must be ${expected}, got ${shown(value)}.`);
}

function unreadable(name: string, cause: unknown): CodedError<'INVALID_ARGUMENT'> {
  return new CodedError('INVALID_ARGUMENT', `${name} cannot be read: its getter threw.`, {}, cause);
}

/** Runs no code of the value: no getter, no `toString`. */
function shown(value: unknown): string {
  if (typeof value === 'string') {
    const cut = value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value;
    return JSON.stringify(cut);
  }
  if (value === null || ['undefined', 'number', 'boolean', 'bigint'].includes(typeof value)) return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function asObject(value: unknown, name: string): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw wrong(name, 'an object', value);
}

function keysOf(given: object, name: string): readonly string[] {
  try {
    return Object.keys(given);
  } catch (error) {
    throw unreadable(name, error);
  }
}

function readField(given: object, key: string, name: string): unknown {
  try {
    return (given as Readonly<Record<string, unknown>>)[key];
  } catch (error) {
    throw unreadable(`${name}.${key}`, error);
  }
}
