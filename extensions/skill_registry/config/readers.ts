import { didYouMean } from '../../../lib/text/index.ts';

/** Reads one value; undefined after `at.report` for a wrong one. Not zod: loading it takes too long. */
export interface Reader<T> {
  (value: unknown, at: ValuePosition): T | undefined;
  /** For editors: accepts what the reader accepts, without rules that JSON Schema cannot express. */
  readonly schema: JsonSchema;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

export function readerOf<T>(schema: JsonSchema, read: (value: unknown, at: ValuePosition) => T | undefined): Reader<T> {
  return Object.assign(read, { schema });
}

export interface ValuePosition {
  readonly path: readonly string[];
  /** What happens to a wrong value, for the message: `the default is used`. */
  readonly effect: string;
  /** `hint`: what may be meant (`didYouMean`); called only for listed values. `shownAs` replaces the value. */
  readonly report: (at: ValuePosition, value: unknown, expected: string, hint?: () => string, shownAs?: string) => void;
}

export function valueThat<T>(expected: string, schema: JsonSchema, isRight: (value: unknown) => boolean): Reader<T> {
  return readerOf(schema, (value, at) => (isRight(value) ? (value as T) : reportWrong(at, value, expected)));
}

export const bool: Reader<boolean> = valueThat(
  'expected true or false',
  { type: 'boolean' },
  (value) => typeof value === 'boolean',
);

export const text: Reader<string> = valueThat(
  'expected a text',
  { type: 'string' },
  (value) => typeof value === 'string',
);

export function textLike(pattern: RegExp, expected: string): Reader<string> {
  return valueThat(
    expected,
    { type: 'string', pattern: pattern.source },
    (value) => typeof value === 'string' && pattern.test(value),
  );
}

export function oneOf<T extends string | true>(...allowed: readonly T[]): Reader<T> {
  const expected = `expected ${allowed.map((one) => JSON.stringify(one)).join(' or ')}`;
  return readerOf({ enum: allowed }, (value, at) => {
    if (allowed.includes(value as T)) return value as T;
    at.report(at, value, expected, () => didYouMean(value, allowed.map(String)));
    return undefined;
  });
}

export function numberFrom(least: number, most: number): Reader<number> {
  const expected = `expected a number from ${least} to ${most}`;
  const schema = { type: 'number', minimum: least, maximum: most };
  return valueThat(expected, schema, (value) => Number(value) === value && value >= least && value <= most);
}

export function integerFrom(least: number, most: number = Number.MAX_SAFE_INTEGER): Reader<number> {
  const range = most === Number.MAX_SAFE_INTEGER ? `, ${least} or more` : ` from ${least} to ${most}`;
  const isRight = (value: unknown): boolean =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
  return valueThat(`expected a whole number${range}`, { type: 'integer', minimum: least, maximum: most }, isRight);
}

export const json: Reader<unknown> = valueThat('expected a JSON value that is at most 100 levels deep', {}, (value) =>
  isJson(value),
);

export function listOf<T>(entry: Reader<T>): Reader<readonly T[]> {
  return readerOf({ type: 'array', items: entry.schema }, (value, at) => {
    if (!Array.isArray(value)) return reportWrong(at, value, 'expected a list');
    return value.flatMap((one, index) => entry(one, entryAt(at, String(index))) ?? []);
  });
}

export function recordOf<T>(entry: Reader<T>): Reader<Readonly<Record<string, T>>> {
  return readerOf({ type: 'object', additionalProperties: entry.schema }, (value, at) => {
    if (!isRecord(value)) return reportWrong(at, value, 'expected keys with values');
    const isRight = ([key, one]: readonly [string, unknown]): boolean => entry(one, entryAt(at, key)) !== undefined;
    return Object.fromEntries(Object.entries(value).filter(isRight)) as Record<string, T>;
  });
}

type Readers<T> = { readonly [Key in keyof T]-?: Reader<Exclude<T[Key], undefined>> };

export function sectionOf<T extends object>(readers: Readers<T>, defaults: T): Reader<T> {
  return readerOf(schemaOf(readers, [], defaults), (value, at) => {
    const read = readKeys(value, readers, [], at);
    const right = Object.entries(read ?? {}).filter(([, one]) => one !== undefined);
    return read && { ...defaults, ...Object.fromEntries(right) };
  });
}

/** Undefined when one of the values is wrong; unknown keys are ignored. */
export function entryOf<T extends object>(
  readers: Readers<T>,
  required: readonly (keyof T)[],
  defaults: Partial<T>,
): Reader<T> {
  return readerOf(schemaOf(readers, required, defaults), (value, at) => {
    const read = readKeys(value, readers, required, at);
    return read && !Object.values(read).includes(undefined) ? ({ ...defaults, ...read } as T) : undefined;
  });
}

/** Also demands `isRight`, which `schema` expresses as far as JSON Schema can. */
export function refine<T>(
  reader: Reader<T>,
  expected: string,
  isRight: (value: T) => boolean,
  schema: JsonSchema = {},
): Reader<T> {
  return readerOf({ ...reader.schema, ...schema }, (value, at) => {
    const read = reader(value, at);
    return read === undefined || isRight(read) ? read : reportWrong(at, value, expected);
  });
}

/** Adds advice to reports on the value itself, not on its parts. `advice` begins with a blank, or is empty. */
export function withAdvice<T>(reader: Reader<T>, advice: (value: unknown) => string): Reader<T> {
  return readerOf(reader.schema, (value, at) => {
    const report: ValuePosition['report'] = (where, wrong, expected, hint, shownAs) => {
      const isItself = where.path.length === at.path.length;
      at.report(where, wrong, expected, isItself ? () => advice(wrong) || (hint?.() ?? '') : hint, shownAs);
    };
    return reader(value, { ...at, report });
  });
}

/** Keys with values, and no other object: YAML also has sets, dates and bytes. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Replaces a value whose getter throws; every reader refuses it. */
export const UNREADABLE: unique symbol = Symbol('cannot be read');

/** A copy without getters and proxies: a program may give objects that throw or change. */
export function plainCopy(value: unknown, copies: Map<unknown, unknown> = new Map()): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (copies.has(value)) return copies.get(value);
  try {
    const isList = Array.isArray(value);
    if (!isList && !isRecord(value)) return value;
    const copy: Record<string, unknown> | unknown[] = isList ? new Array(value.length) : {};
    copies.set(value, copy);
    for (const key of Object.keys(value)) define(copy, key, readOf(value, key, copies));
    return copy;
  } catch {
    return UNREADABLE;
  }
}

// --- internal ---

function readOf(value: object, key: string, copies: Map<unknown, unknown>): unknown {
  try {
    return plainCopy((value as Readonly<Record<string, unknown>>)[key], copies);
  } catch {
    return UNREADABLE;
  }
}

function define(copy: object, key: string, value: unknown): void {
  Object.defineProperty(copy, key, { value, enumerable: true, writable: true, configurable: true });
}

function reportWrong(at: ValuePosition, value: unknown, expected: string): undefined {
  at.report(at, value, expected);
}

function below(at: ValuePosition, key: string): ValuePosition {
  return { ...at, path: [...at.path, key] };
}

function entryAt(at: ValuePosition, key: string): ValuePosition {
  return { ...below(at, key), effect: 'this entry is left out' };
}

function schemaOf<T extends object>(
  readers: Readers<T>,
  required: readonly (keyof T)[],
  defaults: Partial<T>,
): JsonSchema {
  const properties = Object.entries<Reader<unknown>>(readers).map(([key, { schema }]) => {
    const byDefault = (defaults as Readonly<Record<string, unknown>>)[key];
    return [key, { ...schema, ...(byDefault === undefined ? {} : { default: byDefault }) }] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

function readKeys<T extends object>(
  value: unknown,
  readers: Readers<T>,
  required: readonly (keyof T)[],
  at: ValuePosition,
): Partial<T> | undefined {
  if (!isRecord(value)) return reportWrong(at, value, 'expected keys with values');
  for (const [key, one] of Object.entries(value)) {
    if (Object.hasOwn(readers, key)) continue;
    const hint = (): string => didYouMean(key, Object.keys(readers));
    at.report({ ...below(at, key), effect: 'it is ignored' }, one, 'there is no such key', hint);
  }
  const read: Partial<T> = {};
  for (const key of Object.keys(readers) as (keyof T & string)[]) {
    const given = Object.hasOwn(value, key) ? value[key] : undefined;
    if (given !== undefined || required.includes(key)) read[key] = readers[key](given, below(at, key));
  }
  return read;
}

/** Deeper values are refused: a value that contains itself never ends. */
const MAX_JSON_DEPTH = 100;

function isJson(value: unknown, depth: number = 0): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (!(isRecord(value) || Array.isArray(value)) || depth >= MAX_JSON_DEPTH) return false;
  return Object.values(value).every((one) => isJson(one, depth + 1));
}
