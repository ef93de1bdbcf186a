import { didYouMean } from '../../../../lib/text/index.ts';

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
  /** Of reports on the value itself, not on its parts. Begins with a blank, or is empty. */
  readonly advice?: string | undefined;
  /** It may hold a secret, so only its type is reported. */
  readonly isSecret?: boolean;
  /** `hint`: what may be meant (`didYouMean`); called only for listed values. */
  readonly report: (at: ValuePosition, value: unknown, expected: string, hint?: () => string) => void;
}

export function valueThat<T>(expected: string, schema: JsonSchema, isRight: (value: unknown) => boolean): Reader<T> {
  return readerOf(schema, (value, at) => (isRight(value) ? (value as T) : reportWrong(at, value, expected)));
}

export const bool: Reader<boolean> = ofType('boolean', 'expected true or false');
export const text: Reader<string> = ofType('string', 'expected a text');

export const someText: Reader<string> = valueThat(
  'expected a text that is not empty',
  { type: 'string', minLength: 1 },
  (value) => typeof value === 'string' && value !== '',
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

export function numberFrom(
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
  type: 'number' | 'integer' = 'number',
): Reader<number> {
  const range = most === Number.MAX_SAFE_INTEGER ? `, ${least} or more` : ` from ${least} to ${most}`;
  const isRight = (value: unknown): boolean =>
    typeof value === 'number' && value >= least && value <= most && (type === 'number' || Number.isSafeInteger(value));
  const expected = `expected a ${type === 'integer' ? 'whole number' : type}${range}`;
  return valueThat(expected, { type, minimum: least, maximum: most }, isRight);
}

export function integerFrom(least: number, most?: number): Reader<number> {
  return numberFrom(least, most, 'integer');
}

export const json: Reader<unknown> = valueThat('expected a JSON value that is at most 100 levels deep', {}, (value) =>
  isJson(value),
);

const LEFT_OUT = 'this entry is left out';

export function listOf<T>(entry: Reader<T>): Reader<readonly T[]> {
  return readerOf({ type: 'array', items: entry.schema }, (value, at) => {
    if (!Array.isArray(value)) return reportWrong(at, value, 'expected a list');
    return value.flatMap((one, index) => entry(one, below(at, String(index), LEFT_OUT)) ?? []);
  });
}

export function recordOf<T>(entry: Reader<T>, names?: Reader<string>): Reader<Readonly<Record<string, T>>> {
  const propertyNames = names && { propertyNames: names.schema };
  const schema = { type: 'object', ...propertyNames, additionalProperties: entry.schema };
  return readerOf(schema, (value, at) => {
    if (!isRecord(value)) return reportWrong(at, value, 'expected keys with values');
    const read = Object.entries(value).map(([key, one]) => {
      const position = below(at, key, LEFT_OUT);
      return [key, names?.(key, position) === undefined && names ? undefined : entry(one, position)] as const;
    });
    return Object.fromEntries(read.filter(([, one]) => one !== undefined)) as Record<string, T>;
  });
}

/** Without anything that is wrong in it: a typing error must not give more than was meant. */
export function wholly<T>(reader: Reader<T>): Reader<T> {
  return readerOf(reader.schema, (value, at) => {
    let isWhole = true;
    const report: ValuePosition['report'] = (one, ...rest) => {
      isWhole = false;
      at.report({ ...one, effect: at.effect }, ...rest);
    };
    const read = reader(value, { ...at, report });
    return isWhole ? read : undefined;
  });
}

export type Readers<T> = { readonly [Key in keyof T]-?: Reader<Exclude<T[Key], undefined>> };

/** A wrong value gets its default; if `required` is given, it makes the whole object undefined. */
export function objectOf<T extends object>(
  readers: Readers<T>,
  defaults: Partial<T>,
  required?: readonly (keyof T)[],
): Reader<T> {
  return readerOf(schemaOf(readers, defaults, required), (value, at) => {
    if (!isRecord(value)) return reportWrong(at, value, 'expected keys with values');
    for (const [key, one] of Object.entries(value)) {
      if (Object.hasOwn(readers, key)) continue;
      const hint = (): string => didYouMean(key, Object.keys(readers));
      at.report(below(at, key, 'it is ignored'), one, 'there is no such key', hint);
    }
    const read: Partial<T> = { ...defaults };
    let isWhole = true;
    for (const key of Object.keys(readers) as (keyof T & string)[]) {
      const given = Object.hasOwn(value, key) ? value[key] : undefined;
      if (given === undefined && !required?.includes(key)) continue;
      const one = readers[key](given, below(at, key));
      if (one === undefined) isWhole = false;
      else read[key] = one;
    }
    return isWhole || !required ? (read as T) : undefined;
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

/** Keys with values, and no other object: YAML also has sets, dates and bytes. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** An http(s) address without user name and password. */
export function isAddress(value: unknown): boolean {
  const address = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  return address !== undefined && /^https?:$/.test(address.protocol) && !address.username && !address.password;
}

/** Replaces a value whose getter throws; every reader refuses it. */
export const UNREADABLE: unique symbol = Symbol('cannot be read');

/** A copy without getters and proxies: a program may give objects that throw or change. */
export function plainCopy(read: () => unknown, copies: Map<unknown, unknown> = new Map()): unknown {
  try {
    const value = read();
    if (!Array.isArray(value) && !isRecord(value)) return value;
    if (copies.has(value)) return copies.get(value);
    const fields = value as Readonly<Record<string, unknown>>;
    // Without a prototype, so that `__proto__` is a key like any other.
    const copy = Array.isArray(value) ? new Array(value.length) : Object.create(null);
    copies.set(value, copy);
    for (const key of Object.keys(fields)) copy[key] = plainCopy(() => fields[key], copies);
    return copy;
  } catch {
    return UNREADABLE;
  }
}

// --- internal ---

function ofType<T>(type: 'boolean' | 'string', expected: string): Reader<T> {
  return valueThat(expected, { type }, (value) => typeof value === type);
}

function reportWrong(at: ValuePosition, value: unknown, expected: string): undefined {
  at.report(at, value, expected);
}

function below({ advice: _, ...at }: ValuePosition, key: string, effect: string = at.effect): ValuePosition {
  return { ...at, effect, path: [...at.path, key] };
}

function schemaOf<T extends object>(
  readers: Readers<T>,
  defaults: Readonly<Partial<Record<string, unknown>>>,
  required: readonly (keyof T)[] = [],
): JsonSchema {
  const properties = Object.entries<Reader<unknown>>(readers).map(([key, { schema }]) => {
    return [key, Object.hasOwn(defaults, key) ? { ...schema, default: defaults[key] } : schema];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

/** Deeper values are refused: a value that contains itself never ends. */
const MAX_JSON_DEPTH = 100;

function isJson(value: unknown, depth: number = 0): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (!(isRecord(value) || Array.isArray(value)) || depth >= MAX_JSON_DEPTH) return false;
  return Object.values(value).every((one) => isJson(one, depth + 1));
}
