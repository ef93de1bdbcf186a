/**
 * Reads one value of the config as it is. By hand: zod, which could do it, takes longer to load than a thousand skills.
 *
 * @returns undefined for a wrong value, which `at.tell` has been told of then.
 */
export type Reader<T> = (value: unknown, at: At) => T | undefined;

/** Where a value stands, and who is told what is wrong with it. */
export interface At {
  readonly path: readonly string[];
  /** What becomes of a wrong value here: `the default is used`. */
  readonly effect: string;
  readonly tell: (at: At, value: unknown, expected: string) => void;
}

export function valueThat<T>(expected: string, isRight: (value: unknown) => boolean): Reader<T> {
  return (value, at) => (isRight(value) ? (value as T) : wrong(at, value, expected));
}

export const bool: Reader<boolean> = valueThat('expected true or false', (value) => typeof value === 'boolean');

export const text: Reader<string> = valueThat('expected a text', (value) => typeof value === 'string');

export function textLike(pattern: RegExp, expected: string): Reader<string> {
  return valueThat(expected, (value) => typeof value === 'string' && pattern.test(value));
}

export function oneOf<T extends string | true>(...allowed: readonly T[]): Reader<T> {
  const expected = `expected ${allowed.map((one) => JSON.stringify(one)).join(' or ')}`;
  return valueThat(expected, (value) => allowed.includes(value as T));
}

export function numberFrom(least: number, most: number): Reader<number> {
  const expected = `expected a number from ${least} to ${most}`;
  return valueThat(expected, (value) => Number(value) === value && value >= least && value <= most);
}

export function wholeFrom(least: number, most: number = Number.MAX_SAFE_INTEGER): Reader<number> {
  const range = most === Number.MAX_SAFE_INTEGER ? `, ${least} or more` : ` from ${least} to ${most}`;
  const isRight = (value: unknown): boolean =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
  return valueThat(`expected a whole number${range}`, isRight);
}

/** What JSON can say. */
export const json: Reader<unknown> = valueThat('expected a value that JSON can say', isJson);

/** A wrong entry is left out, the others stay. */
export function listOf<T>(entry: Reader<T>): Reader<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) return wrong(at, value, 'expected a list');
    return value.flatMap((one, index) => entry(one, entryAt(at, String(index))) ?? []);
  };
}

/** Keys of any name. A wrong entry is left out, the others stay. */
export function recordOf<T>(entry: Reader<T>): Reader<Readonly<Record<string, T>>> {
  return (value, at) => {
    if (!isRecord(value)) return wrong(at, value, 'expected keys with values');
    const isRight = ([key, one]: readonly [string, unknown]): boolean => entry(one, entryAt(at, key)) !== undefined;
    return Object.fromEntries(Object.entries(value).filter(isRight)) as Record<string, T>;
  };
}

/** A reader for each key; the compiler sees to it that none is forgotten. */
type Readers<T> = { readonly [Key in keyof T]-?: Reader<Exclude<T[Key], undefined>> };

/** Of a wrong value the default is used; a key without a reader is ignored. */
export function sectionOf<T extends object>(readers: Readers<T>, defaults: T): Reader<T> {
  return (value, at) => {
    const read = readKeys(value, readers, [], at);
    const right = Object.entries(read ?? {}).filter(([, one]) => one !== undefined);
    return read && { ...defaults, ...Object.fromEntries(right) };
  };
}

/** Nothing when one of its values is wrong; a key without a reader is ignored. @param required - Keys that have to be there. */
export function entryOf<T extends object>(
  readers: Readers<T>,
  required: readonly (keyof T)[],
  defaults: Partial<T>,
): Reader<T> {
  return (value, at) => {
    const read = readKeys(value, readers, required, at);
    return read && !Object.values(read).includes(undefined) ? ({ ...defaults, ...read } as T) : undefined;
  };
}

/** What `reader` reads, if it is right as a whole. */
export function onlyIf<T>(reader: Reader<T>, expected: string, isRight: (value: T) => boolean): Reader<T> {
  return (value, at) => {
    const read = reader(value, at);
    return read === undefined || isRight(read) ? read : wrong(at, value, expected);
  };
}

// --- internal ---

function wrong(at: At, value: unknown, expected: string): undefined {
  at.tell(at, value, expected);
}

function below(at: At, key: string): At {
  return { ...at, path: [...at.path, key] };
}

function entryAt(at: At, key: string): At {
  return { ...below(at, key), effect: 'this entry is left out' };
}

/** By key, undefined for what is wrong; keys that are not given are not in it. */
function readKeys<T extends object>(
  value: unknown,
  readers: Readers<T>,
  required: readonly (keyof T)[],
  at: At,
): Partial<T> | undefined {
  if (!isRecord(value)) return wrong(at, value, 'expected keys with values');
  for (const [key, one] of Object.entries(value)) {
    if (!Object.hasOwn(readers, key))
      at.tell({ ...below(at, key), effect: 'it is ignored' }, one, 'there is no such key');
  }
  const read: Partial<T> = {};
  for (const key of Object.keys(readers) as (keyof T & string)[]) {
    const given = Object.hasOwn(value, key) ? value[key] : undefined;
    if (given !== undefined || required.includes(key)) read[key] = readers[key](given, below(at, key));
  }
  return read;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'object' && Object.values(value).every(isJson);
}
