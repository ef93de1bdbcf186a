import { createRequire } from 'node:module';
import type * as Zod from 'zod';
import { CodedError } from '../errors/index.ts';
import { didYouMean } from '../text/index.ts';

export type Z = typeof Zod.z;

/** Built at first use. Its messages follow "must be": `a text`. */
export type Schema<Output> = () => Zod.ZodType<Output>;
/** The compiler checks that it has every field. */
export type FieldsSchema<Output> = () => Zod.ZodObject<{
  readonly [Name in keyof Required<Output>]: Zod.ZodType<Output[Name]>;
}>;
export type SchemasFor<Parameters extends readonly unknown[]> = {
  readonly [At in keyof Parameters]-?: Schema<Loose<Parameters[At]> | undefined>;
};
type Loose<T> = T extends readonly unknown[] | ((...given: never[]) => unknown)
  ? T
  : T extends object
    ? { readonly [Name in keyof T]: T[Name] | undefined }
    : T;

const require = createRequire(import.meta.url);

let loaded: Z | undefined;

/** Loading zod takes longer than most commands run: only at the first call. */
export function zod(): Z {
  loaded ??= (require('zod') as typeof Zod).z;
  return loaded;
}

/** For a module that has zod anyway: without it there are two, 9 MiB more. Without effect after the first use. */
export function useZod(z: Z): void {
  loaded ??= z;
}

export function schema<S extends Zod.ZodType>(build: (z: Z) => S): () => S {
  let built: S | undefined;
  return () => {
    built ??= build(zod());
    return built;
  };
}

/** @param name - For messages. @returns without fields that are undefined. @throws INVALID_ARGUMENT. */
export function checkArgument<Output>(name: string, wanted: Schema<Output>, value: unknown): Output {
  const built = wanted();
  // It is checked by the function that is called, which may keep it: a copy would be another object.
  if (built.type === 'any') return value as Output;
  let parsed: Zod.ZodSafeParseResult<Output>;
  try {
    parsed = built.safeParse(readFields(value, fieldNames(built)), { error: expectation, reportInput: true });
  } catch (error) {
    throw unreadable(name, error);
  }
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = (issue?.path ?? []).map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  if (issue?.code !== 'unrecognized_keys') throw wrongArgument(name + at, issue?.message ?? '', issue?.input);
  throw new CodedError('INVALID_ARGUMENT', `${name}${at} ${issue.message}`);
}

export function wrongArgument(name: string, expected: string, value: unknown): CodedError<'INVALID_ARGUMENT'> {
  return new CodedError('INVALID_ARGUMENT', `${name} must be ${expected}, got ${shown(value)}.`);
}

/** @param signature - With parameter names, for messages: `proposals.get(id)`. @throws as `checkArgument`. */
export function checkArguments<Parameters extends readonly unknown[]>(
  signature: string,
  schemas: SchemasFor<Parameters>,
  given: Parameters,
): Parameters {
  const [called = '', names = ''] = signature.slice(0, -1).split('(');
  const checked = (schemas as readonly Schema<unknown>[]).map((wanted, at) =>
    checkArgument(`${called}: ${names.split(', ')[at]}`, wanted, given[at]),
  );
  return checked as unknown as Parameters;
}

/**
 * The message of a `strictObject` about unknown fields. @param unlisted - Fields not to suggest.
 * @param places - By field name: a sentence that says where the field belongs.
 */
export function elsewhere(
  places: Readonly<Record<string, string>>,
  unlisted: readonly string[] = [],
): { readonly error: (issue: Issue) => string | undefined } {
  return {
    error: (issue) => (issue.code === 'unrecognized_keys' ? unknownFieldOf(issue, places, unlisted) : undefined),
  };
}

export function unknownField(
  key: string,
  known: readonly string[],
  places: Readonly<Record<string, string>> = {},
): string {
  const hint = Object.hasOwn(places, key) ? ` ${places[key]}` : didYouMean(key, known);
  return `has no ${shown(key)}.${hint} It may have: ${known.join(', ')}.`;
}

export function unreadable(name: string, cause: unknown): CodedError<'INVALID_ARGUMENT'> {
  return new CodedError('INVALID_ARGUMENT', `${name} cannot be read: its getter threw.`, {}, cause);
}

// --- internal ---

type Issue = Zod.core.$ZodRawIssue;

const MAX_SHOWN = 80;

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/**
 * Without fields that are undefined. Reads each field once, because a getter may give something else later.
 *
 * @param names - Are read also where they are inherited or not enumerable, as in an object of a class.
 */
function readFields(value: unknown, names: readonly string[]): unknown {
  if (Object.prototype.toString.call(value) !== '[object Object]') return value;
  const fields = value as Readonly<Record<string, unknown>>;
  const read = [...new Set([...Object.keys(fields), ...names])].map((name) => [name, fields[name]] as const);
  return Object.fromEntries(read.filter(([, one]) => one !== undefined));
}

function fieldNames(built: Zod.core.$ZodType): readonly string[] {
  const def = built._zod.def as {
    readonly shape?: object;
    readonly innerType?: Zod.core.$ZodType;
    readonly in?: Zod.core.$ZodType;
    readonly out?: Zod.core.$ZodType;
    readonly options?: readonly Zod.core.$ZodType[];
  };
  const below = [def.innerType, def.in, def.out, ...(def.options ?? [])];
  return [...Object.keys(def.shape ?? {}), ...below.flatMap((one) => (one ? fieldNames(one) : []))];
}

function expectation(issue: Issue): string | undefined {
  if (issue.code === 'invalid_type') return KINDS[issue.expected] ?? issue.expected;
  if (issue.code === 'unrecognized_keys') return unknownFieldOf(issue);
  if (issue.code !== 'invalid_value') return undefined;
  const values = issue.values.map((value: unknown) => JSON.stringify(value)).join(', ');
  return issue.values.length > 1 ? `one of ${values}` : values;
}

function unknownFieldOf(
  { keys, inst }: Pick<Issue, 'inst' | 'keys'>,
  places?: Readonly<Record<string, string>>,
  unlisted: readonly string[] = [],
): string {
  const [key = ''] = keys as readonly string[];
  const known = Object.keys((inst as Zod.ZodObject).shape).filter((name) => !unlisted.includes(name));
  return unknownField(key, known, places);
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
